// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import LinuxSystem

/// The socket of a daemon, if no service manager listens. Its name is removed when the daemon ends.
public final class ServerSocket: Sendable {
    public let socket: Socket
    private let path: String
    private let identity: FileStatus.Identity?
    private let lock: HomeLock

    /// Creates the socket at `path`.
    ///
    /// A socket that a killed daemon has left behind is replaced. The socket of a daemon that answers, and any other
    /// kind of file, is not.
    ///
    /// - Parameter isForAll: whether users other than this one may connect.
    /// - Throws: `SystemError` `EADDRINUSE` if another daemon listens there; other codes if the
    ///   directory is not suitable.
    public init(at path: String, isForAll: Bool) throws(SystemError) {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        try Self.prepare(folder, isForAll: isForAll)
        guard let lock = try HomeLock("\(path).lock") else { throw Self.inUse(path) }
        try Self.removeStale(path)
        socket = try Socket(listeningAt: path, permissions: isForAll ? 0o666 : 0o600)
        identity = try FileStatus.ofLink(path)?.identity
        self.path = path
        self.lock = lock
    }

    deinit { remove() }

    /// Whether the socket still has the name that processes find it by.
    public var isReachable: Bool { ((try? FileStatus.ofLink(path)) ?? nil)?.identity == identity }

    /// Calls `body` on another thread when the socket may have lost its name.
    ///
    /// - Parameter signal: ends the observation.
    /// - Returns: false if the system has too many observers or threads.
    public func observeEnd(until signal: StopSignal, _ body: @escaping @Sendable () -> Void) -> Bool {
        guard let watch = try? PathWatch(endOf: path) else { return false }
        return BackgroundThread.run {
            while watch.wait(until: signal) { body() }
        }
    }

    /// Removes the socket's name; existing connections stay open.
    public func remove() {
        // Another process may have replaced the socket.
        if let found = (try? FileStatus.ofLink(path)) ?? nil, found.identity == identity { unlink(path) }
    }

    private static func prepare(_ folder: String, isForAll: Bool) throws(SystemError) {
        guard isForAll else {
            _ = try PrivateDirectory(creating: folder)
            return
        }
        if try FileStatus.of(folder) == nil {
            guard mkdir(folder, 0o755) == 0, chmod(folder, 0o755) == 0 else {
                throw SystemError(
                    "create the directory", path: folder, code: errno,
                    hint: "create it, and make the user of latchkeyd its owner")
            }
        }
        guard let status = try FileStatus.of(folder), status.kind == .directory else {
            throw SystemError("use the directory", path: folder, code: ENOTDIR)
        }
        try status.requireWrittenOnly(by: geteuid(), path: folder)
    }

    private static func removeStale(_ path: String) throws(SystemError) {
        guard let found = try FileStatus.ofLink(path) else { return }
        guard found.kind == .socket else {
            throw SystemError(
                "listen at", path: path, code: EEXIST,
                hint: "it is not a socket; remove it, or choose another path: --socket PATH")
        }
        do throws(SystemError) {
            _ = try Socket(connectingTo: path)
        } catch {
            guard error.code == ECONNREFUSED else { throw error }
            guard unlink(path) == 0 else { throw .last("remove", path: path) }
            return
        }
        throw inUse(path)
    }

    private static func inUse(_ path: String) -> SystemError {
        SystemError(
            "listen at", path: path, code: EADDRINUSE,
            hint:
                "another latchkeyd, or the service manager, listens there; stop it, or choose another path: --socket PATH"
        )
    }
}
