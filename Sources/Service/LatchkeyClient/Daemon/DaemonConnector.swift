// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import KeychainModel
internal import LatchkeyService
package import LinuxSystem

/// Connects a client to a daemon.
package protocol DaemonConnector: Sendable {
    /// Returns a new connection. Its peer is verified to be the daemon; nothing has been sent yet.
    func connect() throws(KeychainError) -> Socket

    /// The path of the daemon's socket; nil if it has none.
    var socketPath: String? { get }

    /// Whether there will be no connection any more.
    var hasEnded: Bool { get }
}

extension DaemonConnector {
    package var socketPath: String? { nil }
    package var hasEnded: Bool { false }
}

/// A daemon that listens at a socket in the file system.
struct SocketConnector: DaemonConnector {
    let path: String
    /// Whether a daemon of this user id is trusted.
    let isTrusted: @Sendable (UInt32) -> Bool

    /// The user's own daemon.
    static func user(_ path: String) -> SocketConnector {
        SocketConnector(path: path) { $0 == geteuid() }
    }

    /// The system's daemon: it runs as root, or as the owner of the socket's directory. Only that
    /// owner may write the directory, and only root or the caller can have created it: one of them
    /// owns it, or owns its parent directory and is the only writer of that. These checks are
    /// needed because the path may come from the environment.
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

    /// Whether any process listens at the socket, trusted or not.
    var hasListener: Bool { Socket.isListening(at: path) }

    var socketPath: String? { path }

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
                .notAvailable, "the process at the socket \(path) runs as the untrusted user \(server)",
                hint: "find the program that created the socket, and remove the socket")
        }
        return socket
    }

    private static func unavailable(_ error: SystemError, _ path: String) -> KeychainError {
        KeychainError(
            .notAvailable, "latchkeyd does not answer at \(path): \(error.reason)",
            hint: "systemctl --user start latchkeyd.socket, or: latchkey daemon --user &")
    }
}

/// A session that a parent process has opened for its children. Connections are passed through an
/// inherited socket.
struct SessionConnector: DaemonConnector {
    let control: Socket

    init(control: Socket) { self.control = control }

    /// The session that the environment names.
    ///
    /// - Throws: errSecNotAvailable if the variable does not name such a socket.
    init(_ variable: String) throws(KeychainError) {
        guard let descriptor = Int32(variable), descriptor > 2, Socket.isSocket(descriptor, listening: false) else {
            throw KeychainError(
                .notAvailable, "LATCHKEY_SESSION_FD is '\(variable)', not the socket of a session",
                hint:
                    "only programs that inherit the descriptor can use the session; start the program with: latchkey with-passcode"
            )
        }
        guard Socket.preservesBoundaries(descriptor), let peer = try? Peer(ofDescriptor: descriptor),
            peer.user == geteuid()
        else {
            throw KeychainError(
                .notAvailable,
                "LATCHKEY_SESSION_FD is '\(variable)', a socket, but not one of a session of this user",
                hint: "start the program with: latchkey with-passcode")
        }
        // This process uses a copy. The inherited descriptor stays open, because children use the
        // session as well.
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw KeychainError(.last("use the session's descriptor")) }
        control = Socket(adopting: copy)
    }

    var hasEnded: Bool { control.isHungUp }

    func connect() throws(KeychainError) -> Socket {
        do throws(SystemError) {
            let (ownEnd, peerEnd) = try Socket.pair()
            try control.send(descriptor: peerEnd.descriptor)
            return ownEnd
        } catch {
            throw KeychainError(
                .notAvailable, "the session that this program was started in has ended: \(error.reason)",
                hint: "start it again with: latchkey with-passcode")
        }
    }
}
