// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService
internal import SecretMemory

/// The keychains of a user as the daemon manages them that serves them.
struct HomeRegistry: KeychainRegistry {
    let provider: HomeProvider
    let user: UInt32
    let files: UserKeychains

    func keychains() throws(KeychainError) -> KeychainOverview { try files.keychains() }

    func createKeychain(_ name: KeychainName, passcode: SharedSecret?) throws(KeychainError) {
        let (account, home) = (try provider.account(of: user), files.home(of: name))
        if let account { try files.requireSpace(for: home, in: account) }
        let create = { () throws(KeychainError) in
            try files.create(name) { (home) throws(KeychainError) in try provider.make(home, passcode, of: user) }
            if let account { files.enter(home, in: account) }
        }
        // The files of a keychain may still be open here after its directory was removed by hand.
        if try files.contains(name) { try create() } else { try provider.replacing(UserKeychain(user, name), create) }
        guard let passcode else { return }
        // It exists now, also if it cannot be unlocked.
        try? provider.open(UserKeychain(user, name)).service.lock.unlock(passcode) { _, _ in }
    }

    func deleteKeychain(_ name: KeychainName) throws(KeychainError) {
        let account = try provider.account(of: user)
        try provider.replacing(UserKeychain(user, name)) { () throws(KeychainError) in
            try files.delete(name)
            if let account { files.leave(files.home(of: name), account) }
        }
    }

    func changeKeychainList(_ change: KeychainListChange) throws(KeychainError) {
        try files.apply(change)
    }
}
