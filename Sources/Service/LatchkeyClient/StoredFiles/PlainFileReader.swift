// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
internal import LatchkeyService
public import LinuxSystem
public import SecretMemory

/// Reads a plain file that is to be stored in the keychain, in parts.
public final class PlainFileReader {
    private let path: String
    private let descriptor: OwnedDescriptor
    /// The state of the file when reading began.
    public let stamp: FileAttributes.Stamp

    /// - Parameter place: a regular file, or a link to one.
    /// - Throws: errSecParam for anything else.
    public init(_ place: FilePath) throws(KeychainError) {
        path = place.description
        do throws(SystemError) {
            let opened = try OwnedDescriptor(opening: place, flags: O_RDONLY | O_NONBLOCK | O_NOCTTY)
            guard try FileStatus.of(opened, path: path).kind == .file else {
                throw SystemError("read", path: path, code: EINVAL, hint: "only regular files can be stored")
            }
            stamp = try FileAttributes(of: opened, path: path, withExtended: false).stamp
            descriptor = opened
        } catch {
            throw KeychainError(ofFile: error)
        }
    }

    /// Returns the next part, at most ``StoredFilePart/maxLength`` bytes; nil at the end.
    public func next() throws(KeychainError) -> SharedSecret? {
        let buffer = SecretBuffer(count: StoredFilePart.maxLength)
        var filled = 0
        do throws(SystemError) {
            filled = try buffer.withUnsafeMutableBytes { (bytes) throws(SystemError) in
                try descriptor.read(into: bytes, path: path)
            }
        } catch {
            throw KeychainError(ofFile: error)
        }
        guard filled > 0 else { return nil }
        return buffer.withUnsafeMutableBytes { bytes in
            SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes.prefix(filled))))
        }
    }

    /// Whether the file that was read is as it was when reading began: length and times.
    public var isUnchanged: Bool {
        (try? FileAttributes(of: descriptor, path: path, withExtended: false).stamp) == stamp
    }
}
