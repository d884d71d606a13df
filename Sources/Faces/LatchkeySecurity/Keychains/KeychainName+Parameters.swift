// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyClient
internal import LatchkeyService

// The keychains for the parameters of the `SecKeychain…` functions.

extension KeychainName {
    /// Returns the keychain of a path from C, also if it does not exist.
    ///
    /// - Throws: errSecParam for text that is not UTF-8; else as `KeychainOverview.name(of:)`.
    static func named(_ pathName: UnsafePointer<CChar>) throws(KeychainError) -> KeychainName {
        try KeychainClient.keychains().name(of: try path(pathName))
    }

    /// Returns the text of a path from C.
    ///
    /// - Throws: errSecParam for text that is not UTF-8.
    static func path(_ pathName: UnsafePointer<CChar>) throws(KeychainError) -> String {
        guard let path = String(validatingCString: pathName) else {
            throw .parameter("the path of a keychain must be UTF-8")
        }
        return path
    }

    /// Returns the keychain of a parameter; for nil, the default keychain for new items.
    static func chosen(_ keychain: SecKeychain?) throws(KeychainError) -> KeychainName {
        if let keychain { return keychain.name }
        if let selected = try KeychainClient.selectedName() { return selected }
        return try KeychainClient.registry().keychains().list.defaultKeychain
    }

    /// The keychains of a parameter, in the order of the search; nil is the search list.
    ///
    /// - Throws: errSecParam if the object is neither a keychain nor an array of them.
    static func searched(_ keychainOrArray: Any?) throws(KeychainError) -> [KeychainName] {
        guard let keychainOrArray else {
            if let selected = try KeychainClient.selectedName() { return [selected] }
            return try KeychainClient.registry().keychains().list.search
        }
        if let keychain = keychainOrArray as? SecKeychain { return [keychain.name] }
        guard let keychains = keychainOrArray as? [SecKeychain] else {
            throw .parameter("expected a SecKeychain or an array of them, found \(type(of: keychainOrArray))")
        }
        return keychains.map(\.name)
    }
}

extension SecKeychain {
    /// Opens the keychain of a parameter; nil is the default keychain.
    ///
    /// - Throws: errSecNoSuchKeychain.
    static func session(_ keychain: SecKeychain?) throws(KeychainError) -> KeychainSession {
        try KeychainClient.session(named: try KeychainName.chosen(keychain))
    }
}
