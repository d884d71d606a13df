// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The protocol between a daemon and its service manager (sd_listen_fds(3), sd_notify(3)), without
/// a library.
public enum ServiceManager {
    /// Returns the sockets that the manager listens on for this process; empty if there are none.
    ///
    /// The variables are removed from the environment, so that no child uses the sockets.
    public static func takeListeningSockets() throws(SystemError) -> [Socket] {
        defer { for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) } }
        guard number("LISTEN_PID") == UInt64(getpid()), let count = number("LISTEN_FDS"), count > 0 else { return [] }
        guard count <= maxCount else {
            throw SystemError("use \(count) sockets of the service manager (maximum \(maxCount))", code: EMFILE)
        }
        var sockets: [Socket] = []
        for descriptor in firstDescriptor..<firstDescriptor + Int32(count) {
            guard Socket.isSocket(descriptor, listening: true) else {
                throw SystemError("listen on descriptor \(descriptor) of the service manager", code: ENOTSOCK)
            }
            guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
                throw .last("use a socket of the service manager")
            }
            let socket = Socket(adopting: descriptor)
            socket.makeNonBlocking()
            sockets.append(socket)
        }
        return sockets
    }

    /// Sends a state such as `READY=1` to the manager. Does nothing if there is no manager.
    public static func notify(_ state: String) throws(SystemError) {
        guard let variable = SecureEnvironment.value(of: "NOTIFY_SOCKET") else { return }
        let socket = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw .last("notify the service manager") }
        defer { close(socket) }
        var address = sockaddr_un()
        var name = Array(variable.utf8)
        // A name that begins with @ is in the abstract namespace, where the first byte is 0.
        if name.first == UInt8(ascii: "@") { name[0] = 0 }
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw SystemError("notify the service manager", code: ENAMETOOLONG)
        }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let text = Array(state.utf8)
        let sent = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(socket, text, text.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
        guard sent == text.count else { throw .last("notify the service manager") }
    }

    /// The interval of `WATCHDOG=1` that the manager expects, in microseconds; nil if it expects none.
    public static var watchdogInterval: UInt64? {
        if let process = number("WATCHDOG_PID"), process != UInt64(getpid()) { return nil }
        return number("WATCHDOG_USEC").flatMap { $0 > 0 ? $0 : nil }
    }

    private static func number(_ name: String) -> UInt64? {
        SecureEnvironment.value(of: name).flatMap { UInt64($0) }
    }

    /// SD_LISTEN_FDS_START.
    private static let firstDescriptor: Int32 = 3
    private static let maxCount: UInt64 = 16
}
