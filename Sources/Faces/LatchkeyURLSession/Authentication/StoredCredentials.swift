// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import FoundationNetworking
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import SecretMemory

/// Permanent credentials: internet passwords of the keychain, with the attributes of Apple's.
enum StoredCredentials {
    static func find(_ key: SpaceKey) -> [String: URLCredential] {
        guard let attributes = attributes(key) else { return [:] }
        var credentials: [String: URLCredential] = [:]
        for record in records(attributes, returning: .attributes) {
            guard let user = record[.account]?.text, let password = password(user, attributes) else { continue }
            credentials[user] = URLCredential(user: user, password: password, persistence: .permanent)
        }
        return credentials
    }

    static func all() -> [SpaceKey: [String: URLCredential]] {
        let keys = Set(records([:], returning: .attributes).compactMap(key))
        return Dictionary(keys.map { ($0, find($0)) }) { first, _ in first }.filter { !$0.value.isEmpty }
    }

    /// Whether the keychain took it.
    static func store(_ credential: URLCredential, _ key: SpaceKey) -> Bool {
        guard let user = credential.user, let password = credential.password, var attributes = attributes(key) else {
            return false
        }
        attributes[.account] = .string(user)
        let query = ItemQuery(.internetPassword, attributes: attributes)
        // EXPOSE: the password of Foundation's credential goes to the keychain.
        let secret = SharedSecret(copying: password.utf8)
        attributes[.label] = .string("\(key.host) (\(user))")
        let item = ItemAddition(.internetPassword, attributes: attributes, secrets: ItemSecrets(data: secret))
        let stored = try? KeychainClient.session().store(item, inPlaceOf: query, with: ItemUpdate(data: secret))
        return stored != nil
    }

    static func remove(_ user: String, _ key: SpaceKey) {
        guard var attributes = attributes(key) else { return }
        attributes[.account] = .string(user)
        _ = try? KeychainClient.session().delete(ItemQuery(.internetPassword, attributes: attributes))
    }

    private static func password(_ user: String, _ attributes: [ItemAttribute: AttributeValue]) -> String? {
        var attributes = attributes
        attributes[.account] = .string(user)
        let secret = records(attributes, returning: .data).first?.secrets?.data
        // EXPOSE: Foundation's credential has the password as a string.
        return secret.flatMap { secret in secret.withUnsafeBytes { String(validating: $0, as: UTF8.self) } }
    }

    /// None if they cannot be read.
    private static func records(
        _ attributes: [ItemAttribute: AttributeValue], returning: ReturnTypes
    ) -> [ItemRecord] {
        let query = ItemQuery(.internetPassword, attributes: attributes, limit: .all)
        return (try? KeychainClient.session().copyMatching(query, returning: returning).records) ?? []
    }

    /// Nil for proxies and for methods without a password.
    private static func attributes(_ key: SpaceKey) -> [ItemAttribute: AttributeValue]? {
        guard !key.isProxy, let type = types[key.method] else { return nil }
        return [
            .server: .string(key.host), .port: .number(Int64(key.port)), .securityDomain: .string(key.realm),
            .protocol: .string(key.isSecure ? https : "http"), .authenticationType: .string(type),
            .path: .string(""),
        ]
    }

    private static func key(_ record: ItemRecord) -> SpaceKey? {
        guard let host = record[.server]?.text, let type = record[.authenticationType]?.text,
            let name = record[.protocol]?.text, let method = types.first(where: { $0.value == type })?.key
        else { return nil }
        var port = 0
        if case .number(let number)? = record[.port] { port = Int(clamping: number) }
        return SpaceKey(
            host: host, realm: record[.securityDomain]?.text ?? "", method: method, port: port,
            isSecure: name == https)
    }

    /// Apple's codes: kSecAttrProtocol and kSecAttrAuthenticationType.
    private static let https = "htps"
    private static let types: [String: String] = [
        NSURLAuthenticationMethodHTTPBasic: "http", NSURLAuthenticationMethodHTTPDigest: "httd",
        NSURLAuthenticationMethodDefault: "dflt",
    ]
}
