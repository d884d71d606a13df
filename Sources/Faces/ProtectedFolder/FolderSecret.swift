// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
internal import Glibc
internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory
internal import UserspaceFileSystem

/// The secret of a folder, to derive the keys of its names: it is the content of the protected file `.latchkey-folder`,
/// and available as long as the class of that file is open.
///
/// ```
/// content = version (1 byte: 1) ‖ 64 random bytes
/// ```
final class FolderSecret: Sendable {
    /// The class of the folder and of its new files.
    let protection: FileProtectionClass
    private let keys: any FileKeyProvider
    private let cipher: CipherMemory
    private let container: ProtectedContainer
    private let state: SystemMutex<State>

    private struct State {
        var isOpen = true
        var texts: FolderTexts?
    }

    /// The name of the file, and the beginning of the name that it has before it is complete.
    static let fileName = ".latchkey-folder"
    /// Files with such names belong to Latchkey itself, and are not shown.
    static let reservedPrefix = ".latchkey-"
    private static let version: UInt8 = 1
    private static let secretLength = 64

    /// Opens the secret of a store, or creates that of a new one.
    ///
    /// - Parameter protection: the class of a new folder; nil for that of an existing one.
    init(
        _ store: StoreDirectory, _ protection: FileProtectionClass?, group: String?, _ keys: any FileKeyProvider
    ) throws(FileProtectionError) {
        self.keys = keys
        if try Self.isMissing(store) {
            guard let protection else { throw .system(SystemError("open", path: Self.fileName, code: ENOENT)) }
            try Self.create(store, protection, group: group, keys)
        }
        let cipher = CipherMemory(keys)
        self.cipher = cipher
        container = try ProtectedContainer(
            opening: try Self.translate { () throws(FileSystemError) in try store.open(Self.fileName, O_RDONLY) },
            path: Self.fileName, isWritable: false, cacheCount: 0
        ) { (record) throws(FileProtectionError) in try cipher.cipher(for: record) }
        self.protection = try container.keyRecord.binding.protection
        guard protection == nil || protection == self.protection else {
            throw .system(
                SystemError(
                    "use another class for", path: Self.fileName, code: EINVAL,
                    hint: "the folder has the class \(self.protection.name)"))
        }
        state = SystemMutex(State())
        _ = try load()
    }

    // MARK: Using

    /// The keys of names.
    ///
    /// - Throws: ``FileSystemError/accessDenied`` while the class is closed, except for class B.
    var texts: FolderTexts {
        get throws(FileSystemError) {
            try requireNames()
            if let texts = state.withLock({ $0.texts }) { return texts }
            let texts = try FileSystemError.translating(load)
            state.withLock { if $0.isOpen || keepsNames { $0.texts = texts } }
            return texts
        }
    }

    /// A mounted folder of class B is itself an open file of this class: files can be created in it after
    /// the lock.
    var keepsNames: Bool { protection == .completeUnlessOpen }

    /// Throws ``FileSystemError/accessDenied`` while names cannot be used.
    func requireNames() throws(FileSystemError) {
        if !keepsNames { try requireOpen() }
    }

    /// Throws ``FileSystemError/accessDenied`` after the folder was closed, without a question to the keychain. Class B
    /// is the exception, because its open files stay usable.
    func requireNotClosed() throws(FileSystemError) {
        guard keepsNames || !isClosed else { throw .accessDenied }
    }

    /// Whether the folder was closed, regardless of the uses that its class then allows.
    var isClosed: Bool { state.withLock { !$0.isOpen } }

    /// Throws ``FileSystemError/accessDenied`` while the class is closed.
    func requireOpen() throws(FileSystemError) {
        guard state.withLock({ $0.isOpen }) else { throw .accessDenied }
        do throws(FileProtectionError) {
            // A cipher of class B may be used after the lock, but another file must not be opened.
            if protection == .completeUnlessOpen {
                guard try keys.isOpen(protection) else { throw .key(.interactionNotAllowed) }
            } else {
                try cipher.requireOpen()
            }
        } catch {
            state.withLock { $0.texts = nil }
            throw FileSystemError(error)
        }
    }

    /// Opens or closes the folder; closed, it has no keys in memory.
    func setOpen(_ isOpen: Bool) {
        state.withLock { state in
            state.isOpen = isOpen
            if !isOpen, !keepsNames { state.texts = nil }
        }
        if !isOpen { container.forgetContent() }
    }

    private func load() throws(FileProtectionError) -> FolderTexts {
        let content = try Self.content(of: container)
        return content.withUnsafeBytes { content in
            FolderTexts(SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: content.dropFirst()))))
        }
    }

    private static func content(of container: ProtectedContainer) throws(FileProtectionError) -> SecretBytes {
        var count = 0
        let content = try SecretBytes(count: 1 + secretLength) { (buffer) throws(FileProtectionError) in
            count = try container.read(into: buffer, at: 0)
        }
        guard count == content.count, try container.length == UInt64(count) else {
            throw .damaged("it is not the secret of a folder")
        }
        guard content.withUnsafeBytes({ $0.first }) == version else {
            throw .unsupportedVersion(UInt16(content.withUnsafeBytes { $0.first ?? 0 }))
        }
        return content
    }

    // MARK: Creating

    private static func isMissing(_ store: StoreDirectory) throws(FileProtectionError) -> Bool {
        do throws(FileSystemError) { _ = try store.status(of: fileName) } catch {
            guard error == .notFound else { throw .system(SystemError("open", path: fileName, code: error.code)) }
            return true
        }
        return false
    }

    /// Creates the file completely under another name. If another process creates it at the same time,
    /// the first one counts.
    private static func create(
        _ store: StoreDirectory, _ protection: FileProtectionClass, group: String?, _ keys: any FileKeyProvider
    ) throws(FileProtectionError) {
        let key = try keys.newKey(protection, group: group)
        let name = "\(fileName).\(RandomBytes.hexadecimal(count: 8))"
        let descriptor = try translate { () throws(FileSystemError) in
            try store.open(name, O_CREAT | O_EXCL | O_RDWR, mode: 0o600)
        }
        do throws(FileProtectionError) {
            let container = try ProtectedContainer(creating: descriptor, path: name, key.record, key.cipher)
            let content = SecretBytes(count: 1 + secretLength) { buffer in
                RandomBytes.fill(buffer)
                buffer[0] = version
            }
            try content.withUnsafeBytes { (bytes) throws(FileProtectionError) in try container.write(bytes, at: 0) }
            try container.commit()
            container.close()
            try translate { () throws(FileSystemError) in
                do throws(FileSystemError) {
                    try store.rename(name, to: store, fileName, .notReplacing)
                } catch {
                    guard error.code == EEXIST else { throw error }
                    try store.remove(name, isDirectory: false)
                }
                try store.synchronize()
            }
        } catch {
            try? store.remove(name, isDirectory: false)
            throw error
        }
    }

    private static func translate<Value: ~Copyable>(
        _ body: () throws(FileSystemError) -> Value
    ) throws(FileProtectionError) -> Value {
        try withErrors(as: { FileProtectionError.system(SystemError("create", path: fileName, code: $0.code)) }, body)
    }
}
