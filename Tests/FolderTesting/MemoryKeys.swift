// SPDX-License-Identifier: Apache-2.0

public import FileProtection
internal import Glibc
public import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// Class keys in the memory of a test, with the rules of a keychain; or derived from a text, so that
/// another process has the same.
public final class MemoryKeys: FileKeyProvider {
    private let keychain: [UInt8]
    private let classKeys: [FileProtectionClass: FileClassKey]
    private let open = SystemMutex(true)
    private let service = SystemMutex((isSilent: false, waiting: 0))

    public init(seed: UInt8? = nil) {
        keychain = [UInt8](repeating: seed ?? 7, count: 16)
        var keys: [FileProtectionClass: FileClassKey] = [:]
        for protection in FileProtectionClass.allCases {
            let secret = [UInt8](repeating: (seed ?? 0) &+ protection.rawValue, count: 32)
            keys[protection] =
                seed == nil ? .random(protection) : FileClassKey(protection, SharedSecret(copying: secret))
        }
        classKeys = keys
    }

    public func setOpen(_ isOpen: Bool) { open.withLock { $0 = isOpen } }

    /// Lets every question for the key of a file wait, as for a service that does not answer.
    public func setSilent(_ isSilent: Bool) { service.withLock { $0.isSilent = isSilent } }

    /// The questions that wait.
    public var waiting: Int { service.withLock { $0.waiting } }

    public func isOpen(_ protection: FileProtectionClass) -> Bool {
        protection.rawValue > 2 || open.withLock { $0 }
    }

    public func newKey(_ protection: FileProtectionClass, group: String?) throws(FileProtectionError) -> ProvidedFileKey
    {
        guard protection == .completeUnlessOpen || isOpen(protection) else { throw .key(.interactionNotAllowed) }
        let secret = SharedSecret(.random(count: 32))
        guard
            let binding = FileKeyRecord.Binding(
                keychain: keychain, protection: protection, generation: 1, file: RandomBytes.array(count: 16),
                group: AccessGroup(group ?? "test.group", grade: .claimed)),
            let record = classKeys[protection]?.wrap(secret, binding)
        else { throw .wrongKey }
        return ProvidedFileKey(record, cipher(secret, protection))
    }

    public func cipher(for record: FileKeyRecord) throws(FileProtectionError) -> any ContainerCipher {
        service.withLock { $0.waiting += 1 }
        while service.withLock({ $0.isSilent }) { usleep(1000) }
        service.withLock { $0.waiting -= 1 }
        guard isOpen(record.binding.protection) else { throw .key(.interactionNotAllowed) }
        guard let secret = classKeys[record.binding.protection]?.unwrap(record) else { throw .wrongKey }
        return cipher(secret, record.binding.protection)
    }

    public func rewrap(
        _ record: FileKeyRecord, for protection: FileProtectionClass?, group: String?
    ) throws(FileProtectionError) -> FileKeyRecord { record }

    private func cipher(_ secret: SharedSecret, _ protection: FileProtectionClass) -> FileKeyCipher {
        FileKeyCipher(Source(secret: secret, protection: protection, keys: self))
    }

    private struct Source: FileKeySource {
        let secret: SharedSecret
        let protection: FileProtectionClass
        let keys: MemoryKeys

        func key() throws(KeychainError) -> SharedSecret {
            guard protection == .completeUnlessOpen || keys.isOpen(protection) else { throw .interactionNotAllowed }
            return secret
        }
    }
}
