// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// A file in memory that a person edits, in a directory of its own.
final class EditingPlace {
    /// Where it is: what an editor writes beside it is removed with it.
    let directory: EditingDirectory
    private let name: FilePath
    private var isKept = false

    /// - Throws: errSecNotAvailable if there is no directory in memory: then nothing is written.
    init(name: FilePath, _ content: SharedSecret) throws(KeychainError) {
        directory = try EditingDirectory()
        self.name = name
        do throws(SystemError) {
            let file = try directory.open(name, flags: O_WRONLY | O_CREAT | O_EXCL)
            let shown = path.description
            // EXPOSE: the editor reads the text from this file, which is in memory.
            try content.withUnsafeBytes { (bytes) throws(SystemError) in try file.write(bytes, path: shown) }
        } catch {
            try? remove()
            throw KeychainError(error)
        }
    }

    var path: FilePath { directory.path.appending(name) }

    func content() throws(KeychainError) -> SharedSecret {
        let buffer = SecretBuffer(count: Int(EditedFile.maxLength) + 1)
        do throws(SystemError) {
            let path = path
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

    /// Keeps the text, because it could not be stored: no later edit removes it.
    ///
    /// - Returns: the path of the text.
    func keep() -> FilePath {
        isKept = true
        directory.keep()
        return path
    }

    /// Removes the file, and what the editor has left beside it. What is in memory is overwritten by the
    /// kernel before another program gets it.
    func remove() throws(SystemError) { if !isKept { try directory.remove() } }
}
