// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// The registry of a service that has one keychain and cannot have another one.
public struct SingleKeychain: KeychainRegistry {
    private let overview: KeychainOverview
    private let owner: String

    /// - Parameter owner: the holder of the keychain, for messages: `a session`.
    public init(_ overview: KeychainOverview, of owner: String) { (self.overview, self.owner) = (overview, owner) }

    /// - Parameter path: of the database; nil for a keychain in memory.
    public init(at path: String?, of owner: String) {
        let place = KeychainPlace(.login, path: path ?? KeychainPlace.ephemeralPath)
        self.init(KeychainOverview(places: [place], list: .initial), of: owner)
    }

    public func keychains() throws(KeychainError) -> KeychainOverview { overview }

    public func createKeychain(_ name: KeychainName, passcode: SharedSecret?) throws(KeychainError) {
        throw fixed
    }

    public func deleteKeychain(_ name: KeychainName) throws(KeychainError) { throw fixed }

    /// A change that changes nothing succeeds.
    public func changeKeychainList(_ change: KeychainListChange) throws(KeychainError) {
        var list = overview.list
        try change.apply(to: &list)
        guard list == overview.list else { throw fixed }
    }

    private var fixed: KeychainError {
        KeychainError(.unimplemented, "\(owner) has one keychain, and no list of them")
    }
}
