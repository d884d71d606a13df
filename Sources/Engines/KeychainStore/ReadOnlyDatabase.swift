// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
internal import LinuxSystem

/// A database file on a file system that cannot be written, though perhaps by another mount of it.
///
/// Where its log is empty, SQLite opens it as an immutable file: without locks, and without log and index beside it, which it could not make.
/// SQLite takes an immutable file at its word and does not notice changes, so every use is between ``state()`` and ``isUnchanged(_:)``.
struct ReadOnlyDatabase: Sendable {
    let path: String

    enum State: Hashable, Sendable {
        /// The log is empty: the file alone is the database while its stamp stays the same.
        case settled(FileStatus.Stamp)
        /// The log holds changes, as a program leaves it that ends without closing the keychain. SQLite reads both by the log's index.
        case logged
    }

    /// Whether the file, or the directory that would take its log, lies on a file system that nothing can be written to.
    static func isNeeded(for path: String) throws(StoreError) -> Bool {
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        do {
            if try FileSystem.isReadOnly(at: path) { return true }
            return try FileSystem.isReadOnly(at: directory)
        } catch {
            throw .system(error)
        }
    }

    /// - Throws: ``StoreError/pendingLog(path:)`` where the log holds changes and has no index, which cannot be made here.
    func state() throws(StoreError) -> State {
        let log = "\(path)-wal"
        let (hasLog, hasIndex): (Bool, Bool)
        do {
            hasLog = (try FileStatus.ofLink(log)?.size ?? 0) > 0
            hasIndex = try FileStatus.ofLink("\(path)-shm") != nil
        } catch {
            throw .system(error)
        }
        if !hasLog { return .settled(FileStatus.stamp(of: path)) }
        guard hasIndex else { throw .pendingLog(path: log) }
        return .logged
    }

    /// Whether what was read since may be relied on. What has come into the log meanwhile was not read, and does no harm.
    func isUnchanged(_ state: State) -> Bool {
        switch state {
        case .settled(let stamp): FileStatus.stamp(of: path) == stamp
        case .logged: true
        }
    }

    /// What sqlite3_open_v2 is given (https://www.sqlite.org/uri.html).
    ///
    /// - Parameter uris: SQLite's answer to whether it reads URIs, which an immutable file needs.
    /// - Throws: ``StoreError/database(code:message:)`` where it does not.
    func name(in state: State, uris: Int32 = Self.uris) throws(StoreError) -> String {
        guard case .settled = state else { return path }
        guard uris == 0 else {
            throw .database(
                code: uris,
                message:
                    "this SQLite was compiled without SQLITE_USE_URI and is in use already: it cannot open a file as immutable"
            )
        }
        return (path.hasPrefix("/") ? "file://" : "file:") + path.utf8.map(Self.encoded).joined() + "?immutable=1"
    }

    /// GRDB passes no SQLITE_OPEN_URI. Debian's SQLite reads URIs by default; another one is told to, once, before its first use.
    private static let uris = latchkey_sqlite_read_uris()

    /// A byte of a path, percent-encoded unless it stands for itself in every URI (RFC 3986, section 2.3) or separates components.
    private static func encoded(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            String(UnicodeScalar(byte))
        default: (byte < 0x10 ? "%0" : "%") + String(byte, radix: 16)
        }
    }
}
