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
    /// - Parameter name: a name such as `build` (`build.keychain-db` and `~/Library/Keychains/build.keychain-db` mean
    ///   the same keychain); or another path.
    /// - Throws: errSecNoSuchKeychain if it does not exist, now or when it is used; errSecInvalidKeychain
    ///   if the text is neither, or the path of another file.
    public static func named(_ name: String) throws(KeychainError) -> Keychain {
        let overview = try KeychainClient.keychains()
        let name = try overview.name(of: name)
        guard overview.place(name) != nil else { throw UserKeychains.missing(name) }
        return Keychain(accessGroup: nil) { () throws(KeychainError) in try KeychainClient.session(named: name) }
    }

    /// Returns the user's keychains: first the one that every user has, then the others by name.
    public static func list() throws(KeychainError) -> [KeychainInfo] {
        let overview = try KeychainClient.keychains()
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
    ///   - name: at most 100 bytes of UTF-8 without slashes; or a path, where a marker file is created.
    ///   - passcode: the passcode of the keychain. If it is empty, the keychain has no passcode, as with
    ///     ``create(_:)``.
    /// - Throws: errSecDuplicateKeychain if it exists, or a file at the path; errSecInvalidKeychain if the
    ///   text is neither.
    public static func create(_ name: String, passcode: some SecretConvertible) throws(KeychainError) {
        let secret = passcode.sharedSecret()
        try KeychainClient.createKeychain(try KeychainFile(name), passcode: secret.count > 0 ? secret : nil)
    }

    /// Creates a keychain without a passcode, and appends it to the search list. It is always unlocked.
    ///
    /// - Throws: as ``create(_:passcode:)``.
    public static func create(_ name: String) throws(KeychainError) {
        try KeychainClient.createKeychain(try KeychainFile(name), passcode: nil)
    }

    /// Deletes a keychain with everything in it, and removes it from the search list.
    ///
    /// - Throws: errSecNoSuchKeychain if it does not exist; errSecParam for `login`, because it cannot be deleted;
    ///   errSecInvalidKeychain if the text is neither a name nor a path, or the path of another file.
    public static func delete(named name: String) throws(KeychainError) {
        try KeychainClient.deleteKeychain(try KeychainClient.keychains().name(of: name))
    }
}
