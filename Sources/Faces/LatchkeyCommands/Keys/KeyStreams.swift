// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LatchkeyClient
internal import LinuxSystem
internal import SecretMemory

/// Files and pipes of the key commands. What is read lies in secret memory only.
enum KeyStreams {
    /// Everything in a file; `-` is standard input.
    static func read(_ path: String) throws(CommandFailure) -> SharedSecret {
        let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .status(KeychainError(.io, SystemError.last("open", path: path).description)) }
        let owned = OwnedDescriptor(adopting: descriptor)
        var pieces: [SharedSecret] = []
        var total = 0
        do throws(SystemError) {
            while true {
                var count = 0
                let piece = try SecretBytes(count: pieceLength) { (buffer) throws(SystemError) in
                    count = try owned.read(into: buffer, path: path)
                }
                if count > 0 {
                    pieces.append(
                        piece.withUnsafeBytes { SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0.prefix(count)))) })
                }
                total += count
                if count < pieceLength { break }
                guard total <= greatestLength else { throw SystemError("read", path: path, code: EFBIG) }
            }
        } catch {
            throw .status(KeychainError(.io, error.description))
        }
        return SharedSecret(joining: pieces)
    }

    /// Writes a file of mode 0600, or standard output where there is no path. A file that is there is replaced only if that is wanted.
    static func write(_ secret: SharedSecret, to path: String?, replaces: Bool, in session: CommandSession) throws(CommandFailure) {
        guard let path, path != "-" else { return try session.writeSecret(secret.copy(), to: .output) }
        try CommandFailure.naming(nil) { () throws(KeychainError) in
            try BackupFile.write(path, replaces: replaces) { (sink) throws(KeychainError) in
                try secret.withUnsafeBytes { (bytes) throws(KeychainError) in try sink(bytes) }
            }
        }
    }

    private static let pieceLength = 64 << 10
    /// What is larger is signed by its digest, or encrypted by a key of its own.
    private static let greatestLength = 1 << 30
}
