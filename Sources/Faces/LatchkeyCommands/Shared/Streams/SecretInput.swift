// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import KeychainModel
package import LinuxSystem
package import SecretMemory

/// Reads files and pipes to their end. The input is kept in secret memory only.
package enum SecretInput {
    /// Reads a whole file; `-` is standard input.
    ///
    /// - Throws: errSecDataTooLarge if there are more than `maxCount` bytes, errSecIO if the file
    ///   cannot be read.
    package static func read(_ path: FilePath, maxCount: Int) throws(KeychainError) -> SharedSecret {
        let name = path == "-" ? "standard input" : path.description
        let descriptor = path == "-" ? dup(STDIN_FILENO) : path.withCString { open($0, O_RDONLY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw KeychainError(.io, SystemError.last("open", path: name).description) }
        let input = OwnedDescriptor(adopting: descriptor)
        var pieces: [SharedSecret] = []
        var total = 0
        while true {
            let piece = try piece(of: input, name)
            total += piece.count
            guard total <= maxCount else {
                throw KeychainError(.dataTooLarge, "\(name) has more than \(maxCount) bytes")
            }
            if piece.count > 0 { pieces.append(piece) }
            if piece.count < pieceLength { return SharedSecret(joining: pieces) }
        }
    }

    /// Returns the secret without one final line feed, because editors and shells append it.
    static func withoutFinalLineEnd(_ secret: SharedSecret) -> SharedSecret {
        secret.withUnsafeBytes { bytes in
            guard bytes.last == UInt8(ascii: "\n") else { return secret }
            return SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes.dropLast())))
        }
    }

    /// Reads the next bytes; fewer than ``pieceLength`` at the end.
    private static func piece(of input: borrowing OwnedDescriptor, _ name: String) throws(KeychainError) -> SharedSecret
    {
        var count = 0
        do throws(SystemError) {
            let buffer = try SecretBytes(count: pieceLength) { (buffer) throws(SystemError) in
                count = try input.read(into: buffer, path: name)
            }
            return buffer.withUnsafeBytes {
                SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0.prefix(count))))
            }
        } catch {
            throw KeychainError(.io, error.description)
        }
    }

    /// The maximum length of an item's secret as input: one byte more than the maximum size of an
    /// item, for the line end. The service rejects anything larger.
    static let maxSecretCount = (4 << 20) + 1

    private static let pieceLength = 64 << 10
}
