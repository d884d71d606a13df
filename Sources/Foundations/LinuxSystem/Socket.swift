// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
import Glibc

/// One end of a connection between processes of this machine, or a listening socket; it is closed
/// when the last reference ends.
///
/// It is blocking and never causes SIGPIPE.
public final class Socket: Sendable {
    /// The number, for use in a system call; never close it.
    public let descriptor: Int32

    /// Takes ownership of a descriptor that no other code closes.
    public init(adopting descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Creates a connection within this process and returns its two ends.
    ///
    /// - Parameter preservesBoundaries: whether each sent message is received as one message
    ///   (SOCK_SEQPACKET).
    public static func pair(preservesBoundaries: Bool = false) throws(SystemError) -> (Socket, Socket) {
        let type = Int32(preservesBoundaries ? SOCK_SEQPACKET.rawValue : SOCK_STREAM.rawValue)
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, type | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw .last("create a pair of sockets")
        }
        return (Socket(adopting: ends[0]), Socket(adopting: ends[1]))
    }

    /// Connects to the socket at `path`.
    public convenience init(connectingTo path: String) throws(SystemError) {
        self.init(adopting: try Self.make())
        var address = try Self.address(path)
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, length) }
        }
        guard status == 0 else { throw .last("connect to", path: path) }
    }

    /// Creates a listening socket at `path` with these permissions. The path must not exist.
    public convenience init(listeningAt path: String, permissions: UInt32) throws(SystemError) {
        self.init(adopting: try Self.make())
        var address = try Self.address(path)
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        // The mode is set before listen(2), so no process can connect before.
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard status == 0, chmod(path, permissions) == 0, listen(descriptor, Self.backlog) == 0 else {
            throw .last("listen at", path: path)
        }
        makeNonBlocking()
    }

    deinit { close(descriptor) }

    // MARK: Connections

    /// Waits for a connection; returns nil when `signal` is raised.
    ///
    /// The listening socket is not shut down, because the service manager may continue to listen on
    /// it.
    ///
    /// - Parameter probe: its questions are answered while waiting.
    public func accept(until signal: StopSignal, answering probe: Probe? = nil) throws(SystemError) -> Socket? {
        while true {
            switch try signal.wait(for: descriptor, answering: probe) {
            case .raised: return nil
            case .interrupted: continue
            case .readable: break
            }
            let accepted = latchkey_accept(descriptor)
            if accepted >= 0 { return Socket(adopting: accepted) }
            // The client has disconnected, or another thread has accepted the connection.
            guard [EINTR, ECONNABORTED, EAGAIN].contains(errno) else { throw .last("accept a connection") }
        }
    }

    /// Makes accept(2) fail with EAGAIN if there is no connection, so that
    /// ``accept(until:answering:)`` continues to wait.
    public func makeNonBlocking() {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    /// Ends receiving: waiting threads are woken, bytes that have arrived can still be read, and
    /// the other side can no longer send.
    public func stop() {
        shutdown(descriptor, Int32(SHUT_RD))
    }

    /// Ends sending: the other side reads the bytes that were sent, and then the end.
    public func finish() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Whether the other side has disconnected or has sent unexpected bytes.
    public var isStale: Bool {
        var byte: UInt8 = 0
        let got = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return got >= 0 || (errno != EAGAIN && errno != EINTR)
    }

    /// Whether the other end is closed: nothing that is sent will be read. Bytes that it sent
    /// before may still be readable.
    public var isHungUp: Bool {
        var entry = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&entry, 1, 0) == 1 && Int32(entry.revents) & (POLLHUP | POLLERR) != 0
    }

    /// Waits until the other side has sent bytes or has disconnected, or until a signal is raised, and lowers the
    /// signal.
    public func waitForPeer(or signal: WakeSignal) {
        signal.wait(for: descriptor, events: Int16(POLLIN) | Self.pollReadHangup, milliseconds: -1)
    }

    /// Whether any process listens at the path.
    public static func isListening(at path: String) -> Bool {
        do throws(SystemError) {
            _ = try Socket(connectingTo: path)
            return true
        } catch {
            return ![ENOENT, ECONNREFUSED, ENOTDIR, ENAMETOOLONG].contains(error.code)
        }
    }

    // MARK: Bytes

    /// Sets the timeouts of receiving and sending in seconds; then they fail with EAGAIN. 0 for no timeout.
    public func setTimeouts(receiving: Int? = nil, sending: Int? = nil) {
        for (option, seconds) in [(SO_RCVTIMEO, receiving), (SO_SNDTIMEO, sending)] {
            guard let seconds else { continue }
            var time = timeval(tv_sec: seconds, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    /// Waits for bytes and reads those that have arrived, as far as they fit into `buffer`; returns
    /// 0 at the end.
    public func receive(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        while true {
            let got = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if got >= 0 { return got }
            guard errno == EINTR else { throw .last("receive") }
        }
    }

    /// Sends as many bytes as possible; returns 0 if `blocking` is false and no byte can be sent.
    public func send(_ bytes: UnsafeRawBufferPointer, blocking: Bool = true) throws(SystemError) -> Int {
        let flags = Int32(MSG_NOSIGNAL) | (blocking ? 0 : Int32(MSG_DONTWAIT))
        while true {
            let sent = Glibc.send(descriptor, bytes.baseAddress, bytes.count, flags)
            if sent >= 0 { return sent }
            if errno == EINTR { continue }
            if errno == EAGAIN, !blocking { return 0 }
            throw .last("send")
        }
    }

    // MARK: Descriptors

    /// Sends a descriptor with one byte that carries it.
    public func send(descriptor other: Int32) throws(SystemError) {
        var byte: UInt8 = 0
        while latchkey_send_descriptor(descriptor, other, &byte, 1) != 1 {
            guard errno == EINTR else { throw .last("send a descriptor") }
        }
    }

    /// Waits for a descriptor: `.end` if the other side has disconnected, `.nothing` for a message
    /// without a descriptor.
    public func receiveDescriptor() throws(SystemError) -> ReceivedDescriptor {
        var byte: UInt8 = 0
        var received: Int32 = -1
        while true {
            let count = latchkey_receive_descriptor(descriptor, &received, &byte, 1)
            if count < 0 {
                if errno == EINTR { continue }
                throw .last("receive a descriptor")
            }
            if received >= 0 { return .socket(Socket(adopting: received)) }
            // An empty message is not the end.
            return count == 0 && isReadClosed ? .end : .nothing
        }
    }

    private var isReadClosed: Bool {
        var entry = pollfd(fd: descriptor, events: Self.pollReadHangup, revents: 0)
        return poll(&entry, 1, 0) > 0
            && (entry.revents & Self.pollReadHangup != 0 || Int32(entry.revents) & (POLLHUP | POLLERR) != 0)
    }

    public enum ReceivedDescriptor: Sendable {
        case socket(Socket)
        case nothing
        case end
    }

    /// Whether the descriptor is a listening socket, or a socket that does not listen.
    public static func isSocket(_ descriptor: Int32, listening: Bool) -> Bool {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &value, &length) == 0 else { return false }
        return (value != 0) == listening
    }

    /// Whether the descriptor is a socket that preserves message boundaries.
    public static func preservesBoundaries(_ descriptor: Int32) -> Bool {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &value, &length) == 0
            && value == Int32(SOCK_SEQPACKET.rawValue)
    }

    private static func make() throws(SystemError) -> Int32 {
        let made = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard made >= 0 else { throw .last("create a socket") }
        return made
    }

    private static func address(_ path: String) throws(SystemError) -> sockaddr_un {
        var address = sockaddr_un()
        guard latchkey_address(&address, path) == 0 else {
            throw SystemError(
                "use the socket", path: path, code: errno,
                hint: "the path of a socket may have at most 107 bytes; set XDG_RUNTIME_DIR to a shorter path")
        }
        return address
    }

    /// POLLRDHUP: the other side has disconnected, or ``stop()`` was called.
    private static let pollReadHangup: Int16 = 0x2000
    private static let backlog: Int32 = 128
}
