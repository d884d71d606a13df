// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// A database file on a file system that is mounted read-only, and that may be writable through
/// another mount.
///
/// If the log is empty, SQLite opens the file as immutable: without locks, and without a log and its index, because
/// those cannot be created here. SQLite does not notice changes of an immutable file, so every use is between
/// ``state()`` and ``isUnchanged(_:)``.
///
/// The file of an inspection may be writable, and in use. If its log and the index of the log exist,
/// SQLite reads both as they are: with the index opened for reading only (`readonly_shm`), it neither
/// recovers the log in the files nor moves it into the database. A copy of the files would need space
/// for all of them, and a process that closes its own descriptor of a database loses SQLite's locks.
struct ReadOnlyDatabase: Sendable {
    let path: String
    /// Whether this process changes nothing by its own choice.
    var isInspected = false

    enum State: Hashable, Sendable {
        /// The log is empty. The file alone is the database as long as its stamp does not change.
        case settled(FileStatus.Stamp)
        /// The log holds changes of a program that ended without closing the keychain. SQLite reads
        /// the file and the log with the index of the log.
        case logged
    }

    /// Whether the file, or the directory for its log, is on a read-only file system.
    static func isNeeded(for path: String) throws(StoreError) -> Bool {
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        do {
            if try FileSystem.isReadOnly(at: path) { return true }
            return try FileSystem.isReadOnly(at: directory)
        } catch {
            throw .system(error)
        }
    }

    /// - Throws: ``StoreError/pendingLog(path:)`` if the log holds changes and its index is missing and cannot be
    ///   created here.
    func state() throws(StoreError) -> State {
        let log = "\(path)-wal"
        let (size, hasIndex): (Int64?, Bool)
        do {
            size = try FileStatus.ofLink(log)?.size
            hasIndex = try FileStatus.ofLink("\(path)-shm") != nil
        } catch {
            throw .system(error)
        }
        // Programs that have the database open keep both files. Then SQLite's locks give one state of it.
        if isInspected, size != nil, hasIndex { return .logged }
        if size ?? 0 == 0 { return .settled(FileStatus.stamp(of: path)) }
        guard hasIndex else { throw .pendingLog(path: log) }
        return .logged
    }

    /// Whether a result that was read since ``state()`` is valid. Changes that reached the log in
    /// the meantime were not read, and are harmless.
    func isUnchanged(_ state: State) -> Bool {
        switch state {
        case .settled(let stamp): FileStatus.stamp(of: path) == stamp
        case .logged: true
        }
    }

    /// The URI that SQLite opens the file with (https://www.sqlite.org/uri.html).
    func uri(in state: State) -> String {
        let option =
            switch state {
            case .settled: "?immutable=1"
            case .logged: isInspected ? "?readonly_shm=1" : ""
            }
        return (path.hasPrefix("/") ? "file://" : "file:") + path.utf8.map(Self.encoded).joined() + option
    }

    /// Returns a byte of a path, percent-encoded unless it is unreserved (RFC 3986, section 2.3) or
    /// separates components.
    private static func encoded(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            String(UnicodeScalar(byte))
        default: "%" + Hexadecimal.text(byte)
        }
    }
}
