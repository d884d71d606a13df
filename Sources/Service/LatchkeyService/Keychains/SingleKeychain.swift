// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// The registry of a service that has one keychain and cannot have another one.
public struct SingleKeychain: KeychainRegistry {
    private let overview: KeychainOverview
    private let owner: String

    /// - Parameter owner: what has the keychain, for messages: `a session`.
    public init(_ overview: KeychainOverview, of owner: String) { (self.overview, self.owner) = (overview, owner) }

    /// The keychain in memory of a process.
    public static let ephemeral = SingleKeychain(
        KeychainOverview(
            places: [KeychainPlace(.login, path: KeychainPlace.ephemeralPath)], list: .initial),
        of: "a process with LATCHKEY_EPHEMERAL")

    public func keychains() throws(KeychainError) -> KeychainOverview { overview }

    public func createKeychain(_ name: KeychainName, passcode: SharedSecret?) throws(KeychainError) {
        throw fixed
    }

    public func deleteKeychain(_ name: KeychainName) throws(KeychainError) { throw fixed }

    public func changeKeychainList(_ change: KeychainListChange) throws(KeychainError) { throw fixed }

    private var fixed: KeychainError {
        KeychainError(.unimplemented, "\(owner) has one keychain, and no list of them")
    }
}
