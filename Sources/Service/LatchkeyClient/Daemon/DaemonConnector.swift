// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import KeychainModel
internal import LatchkeyService
package import LinuxSystem

/// How a client reaches a daemon.
package protocol DaemonConnector: Sendable {
    /// A new connection, whose other end is known to be the daemon's; nothing has been sent yet.
    func connect() throws(KeychainError) -> Socket
}

/// A daemon at a socket of the file system.
struct SocketConnector: DaemonConnector {
    let path: String
    /// Whose daemon it may be.
    let isTrusted: @Sendable (UInt32) -> Bool

    /// The user's own daemon.
    static func user(_ path: String) -> SocketConnector {
        SocketConnector(path: path) { $0 == geteuid() }
    }

    /// The system's daemon: root's, or that of the owner of the socket's directory. Nobody else may write that directory, and only root or the
    /// caller can have made it: it is theirs, or lies in one that is theirs alone to write. The path may come from the environment.
    static func system(_ path: String) -> SocketConnector {
        SocketConnector(path: path) { user in
            if user == 0 { return true }
            guard let directory = ParentDirectory.of(path), let status = (try? FileStatus.of(directory)) ?? nil,
                status.kind == .directory,
                status.owner == user, status.permissions & 0o022 == 0
            else { return false }
            if isOwnedByUserOrRoot(status) { return true }
            guard let parent = ParentDirectory.of(directory), let above = (try? FileStatus.of(parent)) ?? nil else {
                return false
            }
            return isOwnedByUserOrRoot(above) && above.permissions & 0o022 == 0
        }
    }

    private static func isOwnedByUserOrRoot(_ status: FileStatus) -> Bool { [0, geteuid()].contains(status.owner) }

    /// Whether anybody listens at the socket, trusted or not.
    var hasListener: Bool {
        do throws(SystemError) {
            _ = try Socket(connectingTo: path)
            return true
        } catch {
            return ![ENOENT, ECONNREFUSED, ENOTDIR].contains(error.code)
        }
    }

    func connect() throws(KeychainError) -> Socket {
        let socket: Socket
        let server: UInt32
        do throws(SystemError) {
            socket = try Socket(connectingTo: path)
            server = try Peer(of: socket).user
        } catch {
            throw Self.unavailable(error, path)
        }
        guard isTrusted(server) else {
            throw KeychainError(
                .notAvailable, "the socket \(path) belongs to user \(server), who is not to be trusted with secrets",
                hint: "find out who made it, and remove it")
        }
        return socket
    }

    private static func unavailable(_ error: SystemError, _ path: String) -> KeychainError {
        KeychainError(
            .notAvailable, "latchkeyd does not answer at \(path): \(error.reason)",
            hint: "systemctl --user start latchkeyd.socket, or: latchkeyd --user &")
    }
}

/// A session that a parent process has opened for its children: ends of connections are handed over through an inherited socket.
struct SessionConnector: DaemonConnector {
    let control: Socket

    init(control: Socket) { self.control = control }

    /// The session that the environment names.
    ///
    /// - Throws: errSecNotAvailable where the variable does not name such a socket.
    init(_ variable: String) throws(KeychainError) {
        guard let descriptor = Int32(variable), descriptor > 2, Socket.isSocket(descriptor, listening: false) else {
            throw KeychainError(
                .notAvailable, "LATCHKEY_SESSION_FD is '\(variable)', which is no socket of a session",
                hint:
                    "a session reaches programs that inherit its descriptor; start the program by latchkey with-passcode"
            )
        }
        guard Socket.preservesBoundaries(descriptor), let peer = try? Peer(ofDescriptor: descriptor),
            peer.user == geteuid()
        else {
            throw KeychainError(
                .notAvailable,
                "LATCHKEY_SESSION_FD is '\(variable)', which is a socket, but not of a session of this user",
                hint: "start the program by latchkey with-passcode")
        }
        // The inherited descriptor stays as it is, for children have the session as well; this process uses a copy.
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw KeychainError(.last("use the session's descriptor")) }
        control = Socket(adopting: copy)
    }

    func connect() throws(KeychainError) -> Socket {
        do throws(SystemError) {
            let (ownEnd, peerEnd) = try Socket.pair()
            try control.send(descriptor: peerEnd.descriptor)
            return ownEnd
        } catch {
            throw KeychainError(
                .notAvailable, "the session that this program was started in has ended: \(error.reason)",
                hint: "start it again by latchkey with-passcode")
        }
    }
}
