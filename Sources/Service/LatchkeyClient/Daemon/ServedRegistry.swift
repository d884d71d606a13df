// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyOperations
internal import LatchkeyService
internal import SecretMemory

/// The keychains of a user that a daemon has.
struct ServedRegistry: KeychainRegistry {
    private let daemon: KeychainSession

    init(_ daemon: DaemonService, as caller: CallerIdentity) { self.daemon = KeychainSession(daemon, as: caller) }

    func keychains() throws(KeychainError) -> KeychainOverview { try daemon.keychains() }

    func createKeychain(_ name: KeychainName, passcode: SharedSecret?) throws(KeychainError) {
        try daemon.createKeychain(name, passcode: passcode)
    }

    func deleteKeychain(_ name: KeychainName) throws(KeychainError) { try daemon.deleteKeychain(name) }

    func changeKeychainList(_ change: KeychainListChange) throws(KeychainError) {
        try daemon.changeKeychainList(change)
    }
}
