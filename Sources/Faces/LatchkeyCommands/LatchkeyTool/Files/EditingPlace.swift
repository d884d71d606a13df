// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// A file in memory that a person edits, in a directory of its own.
final class EditingPlace {
    /// The directory of the file. Files that an editor writes beside it are removed with it.
    let directory: EditingDirectory
    private let name: FilePath
    private(set) var isKept = false

    /// - Throws: errSecNotAvailable if there is no directory in memory: then nothing is written.
    init(name: FilePath, _ content: SharedSecret) throws(KeychainError) {
        directory = try EditingDirectory()
        self.name = name
        do throws(SystemError) {
            let file = try directory.open(name, flags: O_WRONLY | O_CREAT | O_EXCL)
            let shown = path.description
            // EXPOSE: the editor reads the text from this file in memory.
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

    /// Returns whether the text has changed or cannot be read, or the editor has left other files beside it: an editor
    /// that a signal ends may save the text under another name.
    func hasChanges(since before: SharedSecret) -> Bool { (try? content()) != before || !hasTextAlone }

    private var hasTextAlone: Bool { (try? directory.names()) == [name] }

    /// Keeps the text, because it is not stored: no later edit removes it.
    ///
    /// - Returns: the path of the text.
    func keep() -> FilePath {
        if !isKept { directory.keep() }
        isKept = true
        return path
    }

    /// Keeps everything, because any of the files can be the text.
    ///
    /// - Returns: the path of the text, or that of the directory if something else is in it.
    func keepAll() -> FilePath {
        let path = keep()
        return hasTextAlone ? path : directory.path
    }

    /// Makes ``remove()`` remove a text that was kept, because it is stored now.
    func release() { isKept = false }

    /// Removes the file, and the editor's files beside it. The kernel overwrites their memory before another program
    /// gets it.
    func remove() throws(SystemError) { if !isKept { try directory.remove() } }
}
