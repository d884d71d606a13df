// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
package import LinuxSystem
public import SecretMemory

/// The keychains of a user as the process manages them that opens their files itself.
extension UserKeychains: KeychainRegistry {
    public func keychains() throws(KeychainError) -> KeychainOverview {
        KeychainOverview(
            places: try names().map { KeychainPlace($0, path: home(of: $0).path) }, list: try list())
    }

    /// - Throws: also errSecNotAvailable if the keychains belong to a daemon.
    public func createKeychain(_ name: KeychainName, passcode: SharedSecret?) throws(KeychainError) {
        try HomeOwnership.refuse(login)
        try create(name) { (home) throws(KeychainError) in try Self.make(home, passcode) }
    }

    public func deleteKeychain(_ name: KeychainName) throws(KeychainError) {
        try HomeOwnership.refuse(login)
        try delete(name)
    }

    public func changeKeychainList(_ change: KeychainListChange) throws(KeychainError) {
        try HomeOwnership.refuse(login)
        try apply(change)
    }

    /// Changes the list, for the process that may do so.
    package func apply(_ change: KeychainListChange) throws(KeychainError) {
        try changeList { (list) throws(KeychainError) in try change.apply(to: &list) }
    }

    /// Creates the content of a keychain's home.
    ///
    /// - Parameter passcode: nil for none.
    package static func make(
        _ home: KeychainHome, _ passcode: SharedSecret?, clocks: Clocks = .system, account: StorageAccount? = nil
    ) throws(KeychainError) {
        let service = try EmbeddedService(home: home, clocks: clocks, account: account)
        defer {
            service.close()
            // It gets another place.
            account?.forget(below: home.dataDirectory)
        }
        if let passcode { try service.lock.setPasscode(passcode) { _, _ in } }
    }
}
