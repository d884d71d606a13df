// SPDX-License-Identifier: Apache-2.0

import FileProtection
import KeychainModel
import LinuxSystem
import SecretMemory

/// Class keys in memory, all of them open unless a test closes one.
final class MemoryFileKeys: FileKeyProvider {
    private let classes: [FileProtectionClass: FileClassKey]
    private let generation: SystemMutex<UInt32>
    private let closed = SystemMutex<[FileProtectionClass: KeychainError]>([:])

    init() {
        classes = Dictionary(uniqueKeysWithValues: FileProtectionClass.allCases.map { ($0, FileClassKey.random($0)) })
        generation = SystemMutex(1)
    }

    /// As after a new passcode.
    func raiseGeneration() { generation.withLock { $0 += 1 } }

    func newKey(_ protection: FileProtectionClass, group: String?) throws(FileProtectionError) -> ProvidedFileKey {
        let key = SharedSecret(.random(count: 32))
        let record = try wrap(key, protection, RandomBytes.array(count: 16), group ?? "latchkey.shared")
        return ProvidedFileKey(record, FileKeyCipher(MemoryKey(key)))
    }

    func cipher(for record: FileKeyRecord) throws(FileProtectionError) -> any ContainerCipher {
        FileKeyCipher(MemoryKey(try open(record)))
    }

    func rewrap(
        _ record: FileKeyRecord, for protection: FileProtectionClass?, group: String?
    ) throws(FileProtectionError) -> FileKeyRecord {
        try wrap(
            try open(record), protection ?? record.binding.protection, record.binding.file,
            group ?? record.binding.group.name)
    }

    func isOpen(_ protection: FileProtectionClass) -> Bool { closed.withLock { $0[protection] == nil } }

    /// Lets every use of a class fail; nil opens it.
    func close(_ protection: FileProtectionClass, _ error: KeychainError?) {
        closed.withLock { $0[protection] = error }
    }

    private func open(_ record: FileKeyRecord) throws(FileProtectionError) -> SharedSecret {
        if let error = closed.withLock({ $0[record.binding.protection] }) { throw .key(error) }
        guard let key = classes[record.binding.protection]?.unwrap(record) else { throw .wrongKey }
        return key
    }

    private func wrap(
        _ key: SharedSecret, _ protection: FileProtectionClass, _ file: [UInt8], _ group: String
    ) throws(FileProtectionError) -> FileKeyRecord {
        let binding = FileKeyRecord.Binding(
            keychain: Array(0..<16), protection: protection, generation: generation.withLock { $0 }, file: file,
            group: AccessGroup(group, grade: .claimed))
        guard let binding, let record = classes[protection]?.wrap(key, binding) else { throw .wrongKey }
        return record
    }

    private struct MemoryKey: FileKeySource {
        let secret: SharedSecret
        init(_ secret: SharedSecret) { self.secret = secret }
        func key() -> SharedSecret { secret }
    }
}
