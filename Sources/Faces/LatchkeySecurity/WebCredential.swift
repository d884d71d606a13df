// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyOperations
internal import LatchkeyService
internal import SecretMemory

/// The web credentials that a call concerns.
struct WebCredential: Sendable {
    /// nil for every website.
    let host: String?
    let port: Int64
    /// nil for every account.
    let account: String?

    /// - Parameter fqdn: a host, or a host and a port separated by a colon.
    /// - Throws: errSecParam for an empty host, a URL, or an invalid port.
    init(fqdn: String?, account: String?) throws(KeychainError) {
        self.account = account
        guard let fqdn else {
            (host, port) = (nil, 0)
            return
        }
        let parts = fqdn.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let host = parts[0].lowercased()
        let isHost = !host.isEmpty && host.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }
        guard isHost else {
            throw .parameter("the name of a web credential must be a host, such as example.com or example.com:8443")
        }
        var port: Int64 = 0
        if parts.count == 2 {
            let isDecimal = parts[1].utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard isDecimal, let number = UInt16(parts[1]), number > 0 else {
                throw .parameter("the port of a web credential must be from 1 to 65535")
            }
            // The default port is stored as no port.
            port = number == 443 ? 0 : Int64(number)
        }
        (self.host, self.port) = (host, port)
    }

    /// The query for the items of these credentials.
    var query: ItemQuery {
        var attributes: [ItemAttribute: AttributeValue] = [
            .protocol: .string("htps"), .authenticationType: .string("form"),
        ]
        if let host {
            attributes[.server] = .string(host)
            attributes[.port] = .number(port)
        }
        if let account { attributes[.account] = .string(account) }
        return ItemQuery(.internetPassword, attributes: attributes, limit: .all)
    }
}

/// A web credential found in the keychain.
struct StoredWebCredential: Sendable {
    let server: String
    let account: String
    let port: Int64
    let password: SharedSecret

    var dictionary: [String: Any] {
        // EXPOSE: the caller asked for the password as a string; the caller then owns the copy.
        let text = password.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        var dictionary: [String: Any] = [
            ItemAttribute.server.rawValue: server, ItemAttribute.account.rawValue: account,
            kSecSharedPassword as String: text,
        ]
        if port != 0, port != 443 { dictionary[ItemAttribute.port.rawValue] = NSNumber(value: port) }
        return dictionary
    }
}

/// A program's web credentials in its keychain.
struct WebCredentialKeychain: Sendable {
    let session: KeychainSession

    /// Stores or changes a credential; deletes it if there is no password.
    func set(_ credential: WebCredential, to password: SharedSecret?) throws(KeychainError) {
        guard let password else {
            guard try session.delete(credential.query) > 0 else { throw .itemNotFound }
            return
        }
        // Every one that the program has, in all of its groups and keychains.
        let update = ItemUpdate(data: password)
        guard try session.update(credential.query, with: update) == 0 else { return }
        var attributes = credential.query.attributes
        attributes[.label] = .string("\(credential.host ?? "") (\(credential.account ?? ""))")
        let item = ItemAddition(.internetPassword, attributes: attributes, secrets: ItemSecrets(data: password))
        _ = try session.store(item, inPlaceOf: credential.query, with: update)
    }

    /// - Throws: errSecItemNotFound if there is none.
    func find(_ credential: WebCredential) throws(KeychainError) -> [StoredWebCredential] {
        let found = try session.copyMatching(credential.query, returning: [.data, .attributes])
        let credentials = found.records.compactMap { record -> StoredWebCredential? in
            guard let server = record[.server]?.text, let account = record[.account]?.text,
                let password = record.secrets?.data
            else {
                return nil
            }
            var port: Int64 = 0
            if case .number(let number)? = record[.port] { port = number }
            return StoredWebCredential(server: server, account: account, port: port, password: password)
        }
        guard !credentials.isEmpty else { throw .itemNotFound }
        return credentials
    }
}
