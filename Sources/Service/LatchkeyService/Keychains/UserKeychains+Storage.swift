// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import KeychainStore
public import LinuxSystem

extension UserKeychains {
    /// Begins the account of a user: with the databases, stored files and audit logs of all keychains as they are.
    /// No other process uses them.
    ///
    /// - Throws: if the keychains cannot be listed. One that cannot be read counts with its files.
    public func account(_ quota: KeychainQuota) throws(KeychainError) -> StorageAccount {
        let account = StorageAccount(maxBytes: quota.bytes, maxItems: quota.items)
        for name in try names() { enter(home(of: name), in: account) }
        return account
    }

    /// Charges a keychain to the account, as it is.
    package func enter(_ home: KeychainHome, in account: StorageAccount) {
        let path = home.databasePath
        account.set(bytes: auditShare(of: home, in: account), at: home.auditPlace)
        let size = KeychainStore.size(of: path)
        account.set(bytes: size, at: path)
        account.set(items: size == 0 ? 0 : (try? KeychainStore.itemCount(ofClosed: path)) ?? 0, at: path)
        guard let stored = (try? StoredFileDirectory(existingIn: home)) ?? nil, let size = try? stored.size() else {
            return
        }
        account.set(bytes: size, at: home.filesDirectory)
    }

    /// Forgets a keychain that was deleted.
    package func leave(_ home: KeychainHome, _ account: StorageAccount) {
        for directory in [home.dataDirectory, home.stateDirectory] { account.forget(below: directory) }
    }

    /// Returns the bytes that the audit log of a keychain may have; all are charged. An eighth of the limit for the
    /// keychain that every user has, and little for each of the others, because there may be 64.
    public func auditShare(of home: KeychainHome, in account: StorageAccount) -> Int {
        let (divisor, most) = home.dataDirectory == login.dataDirectory ? (8, 40 << 20) : (256, 1 << 20)
        return max(64 << 10, min(most, account.maxBytes / divisor))
    }

    /// Requires space for one more keychain.
    ///
    /// - Throws: errSecDiskFull.
    package func requireSpace(for home: KeychainHome, in account: StorageAccount) throws(KeychainError) {
        guard account.available >= auditShare(of: home, in: account) + Self.emptySize else {
            throw KeychainError(
                .diskFull, "the keychains, files and backups of this user have their maximum size together",
                hint: "delete some, or ask the administrator to raise the limit in /etc/latchkey/daemon.conf")
        }
    }

    /// More than a keychain without items has, in bytes.
    private static let emptySize = 1 << 20
}

extension KeychainHome {
    /// Stands for the audit log in an account.
    fileprivate var auditPlace: String { "\(stateDirectory)/audit" }
}
