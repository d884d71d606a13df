// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// A private directory in memory (tmpfs) with one file that a person edits.
final class EditingPlace {
    let path: String
    private let directory: String
    private var isKept = false

    /// - Throws: errSecNotAvailable if there is no directory in memory: then nothing is written.
    init(name: String, _ content: SharedSecret) throws(KeychainError) {
        guard let parent = Self.parents.first(where: { Self.isInMemory($0) }) else {
            throw KeychainError(
                .notAvailable, "there is no directory in memory for the text",
                hint: "set XDG_RUNTIME_DIR to a directory of a tmpfs, or mount one at /dev/shm")
        }
        directory = "\(parent)/latchkey-edit-\(RandomBytes.hexadecimal(count: 8))"
        path = "\(directory)/\(name)"
        guard mkdir(directory, 0o700) == 0 else {
            throw KeychainError(SystemError.last("create the directory", path: directory))
        }
        do throws(SystemError) {
            let file = try OwnedDescriptor(opening: path, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
            // EXPOSE: the editor reads the text from this file, which is in memory.
            try content.withUnsafeBytes { (bytes) throws(SystemError) in try file.write(bytes, path: path) }
        } catch {
            remove()
            throw KeychainError(error)
        }
    }

    func content() throws(KeychainError) -> SharedSecret {
        let buffer = SecretBuffer(count: Int(EditedFile.maxLength) + 1)
        do throws(SystemError) {
            let count = try buffer.withUnsafeMutableBytes { (bytes) throws(SystemError) in
                try PrivateFile.fill(bytes, from: path, isPrivate: false)
            }
            guard count <= EditedFile.maxLength else {
                throw SystemError("read", path: path, code: EFBIG)
            }
            return buffer.withUnsafeMutableBytes { bytes in
                SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes.prefix(count))))
            }
        } catch {
            throw KeychainError(error)
        }
    }

    /// Keeps the text, because it could not be stored.
    func keep() { isKept = true }

    /// Removes the file, and what the editor has left beside it. What is in memory is overwritten by the
    /// kernel before another program gets it.
    func remove() {
        guard !isKept, let place = try? OpenDirectory(directory) else { return }
        for entry in (try? place.entries()) ?? [] { try? place.remove(entry.name) }
        rmdir(directory)
    }

    private static var parents: [String] {
        [SecureEnvironment.value(of: "XDG_RUNTIME_DIR"), "/run/user/\(geteuid())", "/dev/shm"].compactMap { $0 }
    }

    private static func isInMemory(_ path: String) -> Bool {
        (try? FileSystem(holding: path))?.isInMemory == true && access(path, W_OK | X_OK) == 0
    }
}
