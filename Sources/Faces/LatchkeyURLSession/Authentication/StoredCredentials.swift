// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import FoundationNetworking
internal import LatchkeySecurity

/// Permanent credentials: internet passwords of the keychain, with the attributes of Apple's.
enum StoredCredentials {
    static func find(_ key: SpaceKey) -> [String: URLCredential] {
        guard var query = attributes(key) else { return [:] }
        query[kSecMatchLimit] = kSecMatchLimitAll
        query[kSecReturnAttributes] = true
        var found: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess else { return [:] }
        var credentials: [String: URLCredential] = [:]
        for item in found as? [[CFString: Any]] ?? [] {
            guard let user = item[kSecAttrAccount] as? String, let password = password(user, key) else { continue }
            credentials[user] = URLCredential(user: user, password: password, persistence: .permanent)
        }
        return credentials
    }

    static func all() -> [SpaceKey: [String: URLCredential]] {
        let query: [CFString: Any] = [
            kSecClass: kSecClassInternetPassword, kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
        ]
        var found: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess else { return [:] }
        let keys = Set((found as? [[CFString: Any]] ?? []).compactMap(key))
        return Dictionary(keys.map { ($0, find($0)) }) { first, _ in first }.filter { !$0.value.isEmpty }
    }

    /// Whether the keychain took it.
    static func store(_ credential: URLCredential, _ key: SpaceKey) -> Bool {
        guard let user = credential.user, let password = credential.password, var item = attributes(key) else {
            return false
        }
        item[kSecAttrAccount] = user
        // EXPOSE: the password of Foundation's credential goes to the keychain.
        let content: [CFString: Any] = [kSecValueData: Data(password.utf8)]
        let status = SecItemUpdate(item as CFDictionary, content as CFDictionary)
        guard status == errSecItemNotFound else { return status == errSecSuccess }
        item[kSecAttrLabel] = "\(key.host) (\(user))"
        return SecItemAdd(item.merging(content) { $1 } as CFDictionary, nil) == errSecSuccess
    }

    static func remove(_ user: String, _ key: SpaceKey) {
        guard var item = attributes(key) else { return }
        item[kSecAttrAccount] = user
        SecItemDelete(item as CFDictionary)
    }

    private static func password(_ user: String, _ key: SpaceKey) -> String? {
        guard var query = attributes(key) else { return nil }
        query[kSecAttrAccount] = user
        query[kSecReturnData] = true
        var found: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess, let data = found as? Data else {
            return nil
        }
        // EXPOSE: Foundation's credential has the password as a string.
        return String(data: data, encoding: .utf8)
    }

    /// Nil for proxies and for methods without a password.
    private static func attributes(_ key: SpaceKey) -> [CFString: Any]? {
        guard !key.isProxy, let type = types[key.method] else { return nil }
        return [
            kSecClass: kSecClassInternetPassword, kSecAttrServer: key.host, kSecAttrPort: key.port,
            kSecAttrProtocol: key.isSecure ? kSecAttrProtocolHTTPS : kSecAttrProtocolHTTP,
            kSecAttrAuthenticationType: type, kSecAttrSecurityDomain: key.realm, kSecAttrPath: "",
        ]
    }

    private static func key(_ item: [CFString: Any]) -> SpaceKey? {
        guard let host = item[kSecAttrServer] as? String, let type = item[kSecAttrAuthenticationType] as? String,
            let name = item[kSecAttrProtocol] as? String, let method = types.first(where: { $0.value == type })?.key
        else { return nil }
        return SpaceKey(
            host: host, realm: item[kSecAttrSecurityDomain] as? String ?? "", method: method,
            port: item[kSecAttrPort] as? Int ?? 0, isSecure: name == kSecAttrProtocolHTTPS as String)
    }

    private static let types: [String: String] = [
        NSURLAuthenticationMethodHTTPBasic: kSecAttrAuthenticationTypeHTTPBasic as String,
        NSURLAuthenticationMethodHTTPDigest: kSecAttrAuthenticationTypeHTTPDigest as String,
        NSURLAuthenticationMethodDefault: kSecAttrAuthenticationTypeDefault as String,
    ]
}
