// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
import Glibc

/// The process at the other end of a connection, as recorded by the kernel when the connection was
/// made.
///
/// The user is attested. The process may have executed another program since, or may have passed its end of the
/// connection to one; information that is read about it later is a claim. A later process with the same number is not
/// mistaken for it: the kernel's descriptor of the process (SO_PEERPIDFD, Linux 6.5) shows that, or the start time of
/// the process with this number.
public final class Peer: Sendable {
    public let user: UInt32
    /// 0 if the process is not in this process's PID namespace.
    public let process: Int32
    /// The kernel's descriptor of the process; nil if the kernel does not support it.
    private let handle: OwnedHandle?
    private let start: UInt64?

    /// The peer of a connected socket.
    public convenience init(of socket: Socket) throws(SystemError) {
        try self.init(ofDescriptor: socket.descriptor)
    }

    public init(ofDescriptor socket: Int32) throws(SystemError) {
        var (user, process) = (UInt32.max, Int32(0))
        guard latchkey_peer(socket, &user, &process) == 0 else { throw .last("get the credentials of the peer") }
        (self.user, self.process) = (user, process)
        var descriptor: Int32 = -1
        var length = socklen_t(MemoryLayout<Int32>.size)
        let hasHandle = getsockopt(socket, SOL_SOCKET, Self.peerHandle, &descriptor, &length) == 0 && descriptor >= 0
        handle = hasHandle ? OwnedHandle(descriptor) : nil
        // Any other failure means that the process has ended: its number may belong to another
        // process now.
        start = !hasHandle && errno == ENOPROTOOPT ? ProcessDirectory(process).startTime : nil
    }

    /// Whether the kernel has supplied a descriptor of the process.
    public var hasHandle: Bool { handle != nil }

    /// Calls `body` and returns its result only if the process existed during the whole call;
    /// otherwise nil.
    public func whileAlive<Result>(_ body: () -> Result) -> Result? {
        guard process > 0, isAlive else { return nil }
        let result = body()
        return isAlive ? result : nil
    }

    private var isAlive: Bool {
        if let handle { return handle.isAlive }
        return start != nil && ProcessDirectory(process).startTime == start
    }

    /// SO_PEERPIDFD.
    private static let peerHandle: Int32 = 77
}

/// The kernel's descriptor of a process.
private final class OwnedHandle: Sendable {
    private let descriptor: Int32
    init(_ descriptor: Int32) { self.descriptor = descriptor }
    deinit { close(descriptor) }

    /// A pidfd becomes readable when its process ends (pidfd_open(2)).
    var isAlive: Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 0
    }
}
