// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LinuxSystem

/// Reads files of any size in blocks.
enum SealedFile {
    private static let blockLength = 1 << 20

    /// Reads a regular file to its end, or to the first block that exceeds the limit.
    ///
    /// - Parameter limit: the number of bytes before reading stops.
    /// - Throws: errSecIO; errSecParam for a pipe, a device and a directory, because they have no end or no content.
    static func read(_ path: String, limit: UInt64, _ use: (UnsafeRawBufferPointer) -> Void) throws(KeychainError) {
        do throws(SystemError) {
            // O_NONBLOCK, so that opening a pipe without a writer does not wait.
            let file = try OwnedDescriptor(opening: path, flags: O_RDONLY | O_NONBLOCK | O_NOCTTY)
            guard try FileStatus.of(file, path: path).kind == .file else {
                throw SystemError("read", path: path, code: EINVAL, hint: "it is not a regular file")
            }
            let block = UnsafeMutableRawBufferPointer.allocate(byteCount: blockLength, alignment: 16)
            defer { block.deallocate() }
            var total: UInt64 = 0
            while total <= limit {
                let count = try file.read(into: block, path: path)
                use(UnsafeRawBufferPointer(rebasing: block.prefix(count)))
                total += UInt64(count)
                if count < block.count { return }
            }
        } catch {
            throw KeychainError(error.code == EINVAL ? .param : .io, error.description, hint: error.hint)
        }
    }
}
