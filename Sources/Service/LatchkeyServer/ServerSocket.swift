// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import LinuxSystem

/// The socket at which a daemon listens, where no service manager listens for it; its name goes when the daemon does.
public final class ServerSocket: Sendable {
    public let socket: Socket
    private let path: String
    private let identity: FileStatus.Identity?
    private let lock: HomeLock

    /// Makes the socket at `path`.
    ///
    /// A socket that a killed daemon has left behind is replaced; one at which a daemon answers, and anything that is no socket, is not.
    ///
    /// - Parameter isForAll: whether users other than this one may connect.
    /// - Throws: `SystemError` `EADDRINUSE` where another daemon is there, and what is wrong with the directory.
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

    /// Takes the socket's name away; who is connected stays so.
    public func remove() {
        // Somebody may have put another one in its place.
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
                    hint: "make it, and give it to the user of latchkeyd")
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
                hint: "it is no socket; remove it, or choose another place: --socket PATH")
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
                "another latchkeyd, or the service manager, listens there; stop it, or choose another place: --socket PATH"
        )
    }
}
