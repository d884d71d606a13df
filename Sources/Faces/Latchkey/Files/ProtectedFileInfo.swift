// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
internal import Glibc
internal import KeychainModel
internal import LinuxSystem

/// The parts of a file that can be read without its key.
enum ProtectedFileInfo {
    /// Returns the key record of a protected file; nil for a plain or a missing one. Nothing
    /// authenticates it.
    static func record(of path: String) throws(FileProtectionError) -> FileKeyRecord? {
        let descriptor: OwnedDescriptor
        do throws(SystemError) {
            descriptor = try OwnedDescriptor(opening: path, flags: O_RDONLY | O_NONBLOCK | O_NOCTTY)
        } catch {
            if error.code == ENOENT { return nil }
            throw .system(error)
        }
        do throws(FileProtectionError) {
            return try ProtectedContainer.keyRecord(of: descriptor, path: path)
        } catch {
            guard case .notProtected = error else { throw error }
            return nil
        }
    }
}
