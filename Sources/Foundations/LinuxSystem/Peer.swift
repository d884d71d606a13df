// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
import Glibc

/// The process at the other end of a connection, as the kernel knew it when the connection was made.
///
/// The user is certain. The process may have become another program since, or may have handed its end to one; what is read of it later is a
/// claim. Its number is never taken for that of a later process: the kernel's descriptor of the process (SO_PEERPIDFD, Linux 6.5) tells, or the
/// time at which the process with this number started.
public final class Peer: Sendable {
    public let user: UInt32
    /// 0 where the process is not of this process's namespace.
    public let process: Int32
    /// The kernel's descriptor of the process; nil where the kernel has none.
    private let handle: OwnedHandle?
    private let start: UInt64?

    /// The peer of a connected socket.
    public convenience init(of socket: Socket) throws(SystemError) {
        try self.init(ofDescriptor: socket.descriptor)
    }

    public init(ofDescriptor socket: Int32) throws(SystemError) {
        var (user, process) = (UInt32.max, Int32(0))
        guard latchkey_peer(socket, &user, &process) == 0 else { throw .last("ask who is calling") }
        (self.user, self.process) = (user, process)
        var descriptor: Int32 = -1
        var length = socklen_t(MemoryLayout<Int32>.size)
        let hasHandle = getsockopt(socket, SOL_SOCKET, Self.peerHandle, &descriptor, &length) == 0 && descriptor >= 0
        handle = hasHandle ? OwnedHandle(descriptor) : nil
        // Any other failure says that the process has ended: its number may be another's by now.
        start = !hasHandle && errno == ENOPROTOOPT ? ProcessDirectory(process).startTime : nil
    }

    /// Whether a kernel's descriptor names the process.
    public var hasHandle: Bool { handle != nil }

    /// Calls `body`, and gives what it read of the process only if that process was there all the while.
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
