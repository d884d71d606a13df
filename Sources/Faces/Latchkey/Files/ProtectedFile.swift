// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
public import FoundationEssentials
internal import Glibc
public import KeychainModel
internal import LatchkeyClient
internal import LinuxSystem

/// An open file; its content obeys the lock of the keychain.
///
/// ```swift
/// let file = try ProtectedFile.create("notes.db", protection: .complete)
/// try file.write(Data("secret".utf8), at: 0)
/// try file.synchronize()
/// ```
///
/// Written content is stored by ``synchronize()`` and ``close()``: after a crash, the file has the content of the last
/// of these calls, whole. One handle at a time may write; any number may read. While the class of the file is closed,
/// calls throw
/// `KeychainError.interactionNotAllowed`; the handle works again after the unlock. A handle of class ``FileProtectionClass/completeUnlessOpen``
/// stays usable after the lock.
///
/// The calls block. Safe to use from several threads.
public final class ProtectedFile: Sendable {
    let container: ProtectedContainer
    let keys: SessionFileKeys
    let path: String

    /// The access that a handle allows.
    public enum Access: Sendable { case reading, updating }

    init(_ container: ProtectedContainer, _ keys: SessionFileKeys, path: String) {
        (self.container, self.keys, self.path) = (container, keys, path)
    }

    // MARK: Opening

    /// Opens an existing protected file.
    ///
    /// - Parameters:
    ///   - path: a protected file, or a link to one.
    ///   - access: whether it is only read.
    ///   - keychain: the one that has the key of the file.
    /// - Throws: `KeychainError.interactionNotAllowed` while the class of the file is closed;
    ///   errSecParam for a file that is not protected; errSecDecode for one that was changed;
    ///   errSecMissingEntitlement for one of another access group; errSecNotAvailable if another
    ///   handle updates it.
    public convenience init(
        _ path: String, for access: Access = .reading, in keychain: Keychain = .default
    ) throws(KeychainError) {
        let keys = keychain.fileKeys
        self.init(try Self.open(path, access, keys), keys, path: path)
    }

    static func open(
        _ path: String, _ access: Access, _ keys: SessionFileKeys
    ) throws(KeychainError) -> ProtectedContainer {
        try mapErrors(path) { () throws(FileProtectionError) in
            let flags = (access == .updating ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_NOCTTY
            let descriptor = try mapSystemErrors { () throws(SystemError) in
                try OwnedDescriptor(opening: path, flags: flags)
            }
            return try ProtectedContainer(
                opening: descriptor, path: path, isWritable: access == .updating,
                cipher: { (record) throws(FileProtectionError) in try keys.cipher(for: record) })
        }
    }

    /// Creates a protected file. It is durable, and empty, when this returns.
    ///
    /// - Parameters:
    ///   - path: its directory must exist.
    ///   - protection: nil for that of the nearest `.latchkey-protect`, or, without one,
    ///     ``FileProtectionClass/completeUntilFirstUserAuthentication``.
    ///   - replacing: whether an existing file is replaced; otherwise that is an error.
    ///   - keychain: the one that keeps the class key.
    /// - Throws: `KeychainError.interactionNotAllowed` while the class is closed, except for
    ///   ``FileProtectionClass/completeUnlessOpen``.
    public static func create(
        _ path: String, protection: FileProtectionClass? = nil, replacing: Bool = false,
        in keychain: Keychain = .default
    ) throws(KeychainError) -> ProtectedFile {
        let keys = keychain.fileKeys
        let container = try mapErrors(path) { () throws(FileProtectionError) in
            let draft = try ProtectedDraft(path, protection, group: keychain.accessGroup, keys)
            return try draft.publish(replaces: replacing)
        }
        return ProtectedFile(container, keys, path: path)
    }

    // MARK: Content

    /// The length of the content, in bytes.
    public var length: UInt64 {
        get throws(KeychainError) {
            try mapErrors(path) { () throws(FileProtectionError) in try container.length }
        }
    }

    /// Returns at most `count` bytes of the content at `offset`; fewer only at its end.
    public func read(at offset: UInt64, count: Int) throws(KeychainError) -> Data {
        let available = try length
        guard offset < available, count > 0 else { return Data() }
        // EXPOSE: the caller asked for the content as Data.
        var data = Data(count: Int(min(UInt64(count), available - offset)))
        let got = try mapErrors(path) { () throws(FileProtectionError) in
            var outcome = Result<Int, FileProtectionError>.success(0)
            data.withUnsafeMutableBytes { buffer in
                outcome = Result { () throws(FileProtectionError) in try container.read(into: buffer, at: offset) }
            }
            return try outcome.get()
        }
        return data.prefix(got)
    }

    /// Replaces the content at
    /// `offset`, and extends the file if necessary. The bytes between the former end and `offset` become zeros.
    public func write(_ bytes: some ContiguousBytes, at offset: UInt64) throws(KeychainError) {
        try mapErrors(path) { () throws(FileProtectionError) in
            var outcome = Result<Void, FileProtectionError>.success(())
            bytes.withUnsafeBytes { buffer in
                outcome = Result { () throws(FileProtectionError) in try container.write(buffer, at: offset) }
            }
            try outcome.get()
        }
    }

    /// Appends to the content.
    public func append(_ bytes: some ContiguousBytes) throws(KeychainError) { try write(bytes, at: try length) }

    /// Cuts the content, or extends it with zeros. The zeros need no space.
    public func truncate(to length: UInt64) throws(KeychainError) {
        try mapErrors(path) { () throws(FileProtectionError) in try container.truncate(to: length) }
    }

    /// Stores the written content. It is on the storage device when this returns.
    public func synchronize() throws(KeychainError) {
        try mapErrors(path) { () throws(FileProtectionError) in try container.commit() }
    }

    /// Stores the written content, and closes the file. A handle that is released without it loses all changes since
    /// the last ``synchronize()``.
    public func close() throws(KeychainError) {
        try mapErrors(path) { () throws(FileProtectionError) in
            if container.isWritable, !container.isSettled { try container.commit() }
            container.close()
        }
    }

    // MARK: Protection

    /// The class of the file.
    public var protection: FileProtectionClass {
        get throws(KeychainError) {
            try mapErrors(path) { () throws(FileProtectionError) in try container.keyRecord.binding.protection }
        }
    }

    /// Changes the class of the file. Only its header is written.
    ///
    /// - Throws: `KeychainError.interactionNotAllowed` while the present or the new class is closed.
    public func setProtection(_ protection: FileProtectionClass) throws(KeychainError) {
        try mapErrors(path) { () throws(FileProtectionError) in
            let record = try keys.rewrap(try container.keyRecord, for: protection, group: nil)
            try container.rewrap(record, try keys.cipher(for: record))
        }
    }
}

extension Keychain {
    /// The keys of files; they are kept while files are open.
    var fileKeys: SessionFileKeys { SessionFileKeys(withholdsKeys: withholdsFileKeys, open) }
}
