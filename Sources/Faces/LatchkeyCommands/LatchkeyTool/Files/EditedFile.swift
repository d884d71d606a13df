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
    private let path: String
    private let protection: FileProtectionClass?
    private let keys: SessionFileKeys

    init(_ path: String, _ protection: FileProtectionClass?, _ keys: SessionFileKeys) {
        (self.path, self.protection, self.keys) = (path, protection, keys)
    }

    /// Returns the content; empty for a file that does not exist, if a class is given.
    func content() throws(FileProtectionError) -> SharedSecret {
        do throws(FileProtectionError) {
            let container = try open(isWritable: false)
            let length = try container.length
            guard length <= Self.maxLength else { throw .tooLarge }
            let secret = SecretBuffer(count: Int(length))
            _ = try secret.withUnsafeMutableBytes { (bytes) throws(FileProtectionError) in
                try container.read(into: bytes, at: 0)
            }
            return secret.withUnsafeMutableBytes { SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer($0))) }
        } catch {
            guard case .system(let cause) = error, cause.code == ENOENT, protection != nil else { throw error }
            return SharedSecret(copying: [])
        }
    }

    /// Replaces the content, all of it or nothing. A new file is created.
    func store(_ content: SharedSecret) throws(FileProtectionError) {
        let container: ProtectedContainer
        do throws(FileProtectionError) {
            container = try open(isWritable: true)
        } catch {
            guard case .system(let cause) = error, cause.code == ENOENT else { throw error }
            return try create(content)
        }
        try container.truncate(to: 0)
        try content.withUnsafeBytes { (bytes) throws(FileProtectionError) in try container.write(bytes, at: 0) }
        try container.commit()
        container.close()
    }

    private func create(_ content: SharedSecret) throws(FileProtectionError) {
        guard let protection, let name = path.split(separator: "/").last else {
            throw .unsuitable("the file was removed meanwhile")
        }
        let key = try keys.newKey(protection, group: nil)
        let directory = try mapSystemErrors { () throws(SystemError) in
            try OpenDirectory(followingLinks: ParentDirectory.of(path) ?? ".")
        }
        let draft = try mapSystemErrors { () throws(SystemError) in try directory.unnamedFile() }
        let container = try ProtectedContainer(
            creating: try draft.duplicate(), path: path, key.record, key.cipher)
        try content.withUnsafeBytes { (bytes) throws(FileProtectionError) in try container.write(bytes, at: 0) }
        try container.commit()
        try mapSystemErrors { () throws(SystemError) in
            try directory.publish(draft, as: String(name), replaces: false)
            try directory.synchronize()
        }
    }

    private func open(isWritable: Bool) throws(FileProtectionError) -> ProtectedContainer {
        let descriptor = try mapSystemErrors { () throws(SystemError) in
            try OwnedDescriptor(
                opening: path, flags: (isWritable ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_NOCTTY)
        }
        return try ProtectedContainer(
            opening: descriptor, path: path, isWritable: isWritable,
            cipher: { [keys] (record) throws(FileProtectionError) in try keys.cipher(for: record) })
    }

    /// 64 MiB.
    static let maxLength: UInt64 = 64 << 20
}
