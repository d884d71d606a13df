// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// A place in the keychain: the attributes that all items of one `SecureStore` share.
protocol SecureStoreQueryable {
    var query: [String: Any] { get }
}

/// The secrets of a service.
struct GenericPasswordQueryable {
    let service: String
    /// The group of programs that share the items; nil for the program's first.
    let accessGroup: String?

    init(service: String, accessGroup: String? = nil) {
        self.service = service
        self.accessGroup = accessGroup
    }
}

extension GenericPasswordQueryable: SecureStoreQueryable {
    var query: [String: Any] {
        var query: [String: Any] = [:]
        query[String(kSecClass)] = kSecClassGenericPassword
        query[String(kSecAttrService)] = service
        // Programs in the simulator are not signed, and have no groups.
        #if !targetEnvironment(simulator)
            if let accessGroup = accessGroup {
                query[String(kSecAttrAccessGroup)] = accessGroup
            }
        #endif
        return query
    }
}

/// The passwords of a server.
struct InternetPasswordQueryable {
    let server: String
    let port: Int
    let path: String
    let securityDomain: String
    let internetProtocol: InternetProtocol
    let internetAuthenticationType: InternetAuthenticationType
}

extension InternetPasswordQueryable: SecureStoreQueryable {
    var query: [String: Any] {
        var query: [String: Any] = [:]
        query[String(kSecClass)] = kSecClassInternetPassword
        query[String(kSecAttrServer)] = server
        query[String(kSecAttrPort)] = port
        query[String(kSecAttrPath)] = path
        query[String(kSecAttrSecurityDomain)] = securityDomain
        query[String(kSecAttrProtocol)] = internetProtocol.rawValue
        query[String(kSecAttrAuthenticationType)] = internetAuthenticationType.rawValue
        return query
    }
}
