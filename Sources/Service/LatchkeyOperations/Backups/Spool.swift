// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import KeychainModel
internal import LatchkeyService
package import LinuxSystem
internal import Synchronization

/// An unnamed file that holds a backup during its transfer, so that a slow client does not block
/// other users of the keychain. Its content is encrypted, and the file is deleted with its last
/// descriptor.
package final class Spool: Sendable {
    private let descriptor: OwnedDescriptor
    private let path: String
    private let limit: Int
    /// The bytes that the file uses of the user's account; nil for no limit.
    private let charge: StorageAccount.Charge?
    private let written = Atomic<Int>(0)

    /// - Parameters:
    ///   - directory: a private directory on the file system of the keychain.
    ///   - charge: the bytes that the file uses of the user's account; nil for no limit.
    package init(
        in directory: String, charge: StorageAccount.Charge?, limit: Int = maxLength
    ) throws(KeychainError) {
        path = directory
        (self.charge, self.limit) = (charge, limit)
        do throws(SystemError) {
            descriptor = try Self.unnamed(directory)
        } catch {
            throw KeychainError(error)
        }
    }

    package func write(_ bytes: UnsafeRawBufferPointer) throws(KeychainError) {
        let length = written.load(ordering: .relaxed)
        guard bytes.count <= limit - length, charge?.add(bytes.count) != false else {
            throw KeychainError(
                .diskFull, "the backup in transit exceeds the space that this user may have on the disk beside it",
                hint: "ask the administrator to raise the limit in /etc/latchkey/daemon.conf")
        }
        do throws(SystemError) { try descriptor.write(bytes, path: path) } catch { throw KeychainError(error) }
        written.store(length + bytes.count, ordering: .relaxed)
    }

    package func write(_ piece: [UInt8]) throws(KeychainError) {
        var problem: KeychainError?
        piece.withUnsafeBytes { bytes in
            do throws(KeychainError) { try write(bytes) } catch { problem = error }
        }
        if let problem { throw problem }
    }

    /// Sets the position to the start.
    package func rewind() {
        lseek(descriptor.rawValue, 0, SEEK_SET)
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(KeychainError) -> Int {
        do throws(SystemError) { return try descriptor.read(into: buffer, path: path) } catch {
            throw KeychainError(error)
        }
    }

    /// Returns the next bytes, at most one part; nil at the end.
    func nextPiece() throws(KeychainError) -> [UInt8]? {
        var piece = [UInt8](repeating: 0, count: ResponsePart.maxLength)
        var outcome = Result<Int, KeychainError>.success(0)
        piece.withUnsafeMutableBytes { buffer in
            outcome = Result { () throws(KeychainError) in try read(into: buffer) }
        }
        let count = try outcome.get()
        return count > 0 ? Array(piece.prefix(count)) : nil
    }

    private static func unnamed(_ directory: String) throws(SystemError) -> OwnedDescriptor {
        do throws(SystemError) {
            return try OwnedDescriptor(unnamedIn: directory, flags: O_RDWR)
        } catch {
            // The file system has no unnamed files: the name is removed immediately.
            let name = "\(directory)/spool-\(RandomBytes.hexadecimal(count: 8))"
            let opened = try OwnedDescriptor(opening: name, flags: O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
            unlink(name)
            return opened
        }
    }

    /// The limit of every backup: 4 GiB.
    package static let maxLength = 4 << 30
}
