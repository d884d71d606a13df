// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
internal import KeychainModel
internal import LinuxSystem

/// Gives a container its cipher, and remembers it: whether the class of an open file is open can then be
/// asked without reading the file.
final class CipherMemory: Sendable {
    private let keys: any FileKeyProvider
    private let last: SystemMutex<(any ContainerCipher)?>

    init(_ keys: any FileKeyProvider, _ cipher: (any ContainerCipher)? = nil) {
        self.keys = keys
        last = SystemMutex(cipher)
    }

    func cipher(for record: FileKeyRecord) throws(FileProtectionError) -> any ContainerCipher {
        let cipher = try keys.cipher(for: record)
        last.withLock { $0 = cipher }
        return cipher
    }

    /// Throws while the open file may not be used.
    func requireOpen() throws(FileProtectionError) { try last.withLock { $0 }?.requireOpen() }
}
