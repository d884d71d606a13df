// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
internal import Glibc
internal import LinuxSystem

/// Space kept for deletions when the disk is full: a file beside the database. Its blocks are released for the index
/// and the log that a deletion needs. While it is empty, nothing is added.
final class DiskReserve: Sendable {
    private let path: String
    private let length: Int

    /// - Parameter account: the storage account of the user; nil for no limit.
    init(of database: String, _ account: StorageAccount?) {
        path = Self.path(of: database)
        length = min(Self.usualLength, (account?.maxBytes ?? .max) / 32)
    }

    /// Fills the file, if the disk has the space. A file that cannot be filled is left empty if it was there, and is
    /// not made otherwise.
    func restore() {
        let state = state
        guard state != .filled else { return }
        let descriptor = latchkey_open(path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard NoSpace.path == path || posix_fallocate(descriptor, 0, length) != 0 else { return }
        ftruncate(descriptor, 0)
        if state == .missing { unlink(path) }
    }

    /// Requires that the file is filled, before something else than a deletion is written.
    ///
    /// - Throws: the error of a full disk. Without the file there is nothing to require.
    func require() throws(StoreError) {
        guard state == .empty else { return }
        restore()
        guard state == .empty else { return }
        throw .database(code: StoreError.sqliteFull, message: "the rest of the disk is kept for deletions")
    }

    /// Empties the file.
    ///
    /// - Returns: whether this has made space.
    func release() -> Bool { state == .filled && truncate(path, 0) == 0 }

    /// The bytes that it has. They are part of the user's data on the disk.
    var size: Int { Int(clamping: ((try? FileStatus.ofLink(path)) ?? nil)?.size ?? 0) }

    private enum State { case missing, empty, filled }

    private var state: State {
        guard let status = (try? FileStatus.ofLink(path)) ?? nil, status.kind == .file else { return .missing }
        return status.size < Int64(length) ? .empty : .filled
    }

    static func path(of database: String) -> String { "\(database)-reserve" }

    /// More than the index of the log (32 KiB), and a deletion of some items. In bytes.
    private static let usualLength = 512 << 10
}

/// Lets a test have a disk without space.
enum NoSpace {
    /// The reserve that cannot be filled.
    @TaskLocal static var path: String?
}
