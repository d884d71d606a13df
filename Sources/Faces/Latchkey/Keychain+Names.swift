// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import SecretMemory

/// The user's keychains under their names: the one that every user has, `login`, and those that
/// scripts and programs create for themselves.
///
/// ```swift
/// try Keychain.create("build", passcode: "correct horse battery")
/// let build = try Keychain.named("build")
/// try build.set(GenericPassword(service: "example.com", account: "deploy"), to: "s3cret")
/// try Keychain.delete(named: "build")
/// ```
///
/// ``Keychain/default`` searches the keychains of the search list, and adds to the default keychain.
/// `security list-keychains` and `security default-keychain` change these for all programs.
extension Keychain {
    /// Returns one of the user's keychains.
    ///
    /// - Parameter name: a name such as `build`; `build.keychain-db` and a path that ends so name the
    ///   same keychain.
    /// - Throws: errSecNoSuchKeychain if it does not exist, now or when it is used; errSecInvalidKeychain
    ///   if the text is not a name.
    public static func named(_ name: String) throws(KeychainError) -> Keychain {
        let name = try KeychainName(path: name)
        guard try KeychainClient.registry().keychains().place(name) != nil else { throw UserKeychains.missing(name) }
        return Keychain(accessGroup: nil) { () throws(KeychainError) in try KeychainClient.session(named: name) }
    }

    /// Returns the user's keychains: first the one that every user has, then the others by name.
    public static func list() throws(KeychainError) -> [KeychainInfo] {
        let overview = try KeychainClient.registry().keychains()
        return overview.places.map { place in
            KeychainInfo(
                name: place.name.text, path: place.path,
                searchPosition: overview.list.search.firstIndex(of: place.name),
                isDefault: overview.list.defaultKeychain == place.name)
        }
    }

    /// Creates a keychain, and appends it to the search list. It is unlocked then, if latchkeyd keeps
    /// it; otherwise ``unlock(passcode:)`` unlocks it for this process.
    ///
    /// - Parameters:
    ///   - name: at most 100 bytes of UTF-8 without slashes.
    ///   - passcode: what unlocks it. With an empty one, the keychain has no passcode, as with ``create(_:)``.
    /// - Throws: errSecDuplicateKeychain if it exists; errSecInvalidKeychain if the text is not a name.
    public static func create(_ name: String, passcode: some SecretConvertible) throws(KeychainError) {
        let secret = passcode.sharedSecret()
        try KeychainClient.registry().createKeychain(
            try KeychainName(path: name), passcode: secret.count > 0 ? secret : nil)
    }

    /// Creates a keychain without a passcode, which is always unlocked, and appends it to the search
    /// list.
    ///
    /// - Throws: errSecDuplicateKeychain if it exists; errSecInvalidKeychain if the text is not a name.
    public static func create(_ name: String) throws(KeychainError) {
        try KeychainClient.registry().createKeychain(try KeychainName(path: name), passcode: nil)
    }

    /// Deletes a keychain with everything in it, and removes it from the search list.
    ///
    /// - Throws: errSecNoSuchKeychain if it does not exist; errSecParam for `login`, which cannot be
    ///   deleted; errSecInvalidKeychain if the text is not a name.
    public static func delete(named name: String) throws(KeychainError) {
        let name = try KeychainName(path: name)
        try KeychainClient.registry().deleteKeychain(name)
        KeychainClient.forget(name)
    }
}
