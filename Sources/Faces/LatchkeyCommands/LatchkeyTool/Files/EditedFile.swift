// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
internal import Glibc
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// A protected file that is replaced as a whole.
struct EditedFile {
    private let path: FilePath
    private let protection: FileProtectionClass?
    private let keys: SessionFileKeys

    init(_ path: FilePath, _ protection: FileProtectionClass?, _ keys: SessionFileKeys) {
        (self.path, self.protection, self.keys) = (path, protection, keys)
    }

    /// Returns the content; nil for a file that does not exist, if a class is given.
    func content() throws(FileProtectionError) -> SharedSecret? {
        do throws(FileProtectionError) {
            return try content(of: try open(isWritable: false).container)
        } catch {
            guard case .system(let cause) = error, cause.code == ENOENT, protection != nil else { throw error }
            return nil
        }
    }

    private func content(of container: ProtectedContainer) throws(FileProtectionError) -> SharedSecret {
        let length = try container.length
        guard length <= Self.maxLength else { throw .tooLarge }
        let secret = SecretBuffer(count: Int(length))
        _ = try secret.withUnsafeMutableBytes { (bytes) throws(FileProtectionError) in
            try container.read(into: bytes, at: 0)
        }
        return secret.withUnsafeMutableBytes { SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer($0))) }
    }

    /// Replaces the content, all of it or nothing. A new file is created.
    ///
    /// - Parameter before: the content that was edited; nil for a new file.
    /// - Throws: ``FileProtectionError/changedMeanwhile`` if the file has another content now.
    func store(_ content: SharedSecret, replacing before: SharedSecret?) throws(FileProtectionError) {
        guard let before else { return try create(content) }
        let (container, identity): (ProtectedContainer, FileStatus.Identity)
        do throws(FileProtectionError) {
            // The handle is the only one for writing, until it is closed.
            (container, identity) = try open(isWritable: true)
        } catch {
            guard case .system(let cause) = error, cause.code == ENOENT else { throw error }
            throw .changedMeanwhile
        }
        defer { container.close() }
        guard try self.content(of: container) == before else { throw .changedMeanwhile }
        try requireNamed(identity)
        try container.truncate(to: 0)
        try content.withUnsafeBytes { (bytes) throws(FileProtectionError) in try container.write(bytes, at: 0) }
        try container.commit()
        // A conversion or a move could have given the name to another file since it was opened.
        try requireNamed(identity)
    }

    /// Throws if the path leads to another file now.
    private func requireNamed(_ identity: FileStatus.Identity) throws(FileProtectionError) {
        let named = try mapSystemErrors { () throws(SystemError) in try FileStatus.of(path)?.identity }
        guard named == identity else { throw .changedMeanwhile }
    }

    private func create(_ content: SharedSecret) throws(FileProtectionError) {
        guard let protection, let name = path.lastComponent else {
            throw .unsuitable("the file was removed meanwhile")
        }
        let key = try keys.newKey(protection, group: nil)
        let directory = try mapSystemErrors { () throws(SystemError) in
            try OpenDirectory(followingLinks: path.parent ?? ".")
        }
        let draft = try mapSystemErrors { () throws(SystemError) in try directory.unnamedFile() }
        let container = try ProtectedContainer(
            creating: try draft.duplicate(), path: path.description, key.record, key.cipher)
        try content.withUnsafeBytes { (bytes) throws(FileProtectionError) in try container.write(bytes, at: 0) }
        try container.commit()
        do throws(SystemError) {
            try directory.publish(draft, as: name, replaces: false)
            try directory.synchronize()
        } catch {
            throw error.code == EEXIST ? .changedMeanwhile : .system(error)
        }
    }

    private func open(
        isWritable: Bool
    ) throws(FileProtectionError) -> (container: ProtectedContainer, identity: FileStatus.Identity) {
        let descriptor = try mapSystemErrors { () throws(SystemError) in
            try OwnedDescriptor(
                opening: path, flags: (isWritable ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_NOCTTY)
        }
        let shown = path.description
        let identity: FileStatus.Identity
        do throws(SystemError) { identity = try FileStatus.of(descriptor, path: shown).identity } catch {
            throw .system(error)
        }
        let container = try ProtectedContainer(
            opening: descriptor, path: shown, isWritable: isWritable,
            cipher: { [keys] (record) throws(FileProtectionError) in try keys.cipher(for: record) })
        return (container, identity)
    }

    /// 64 MiB.
    static let maxLength: UInt64 = 64 << 20
}
