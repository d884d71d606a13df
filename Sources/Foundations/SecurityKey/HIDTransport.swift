// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// A security key on USB, through the kernel's device `/dev/hidrawN`.
///
/// libfido2 has such a transport as well, but its time limit is not one: it counts whole
/// milliseconds between reports, so that a device that sends a report in less never reaches it.
struct HIDTransport: SecurityKeyTransport {
    let path: String

    func connect() throws(SecurityKeyError) -> any SecurityKeyConnection {
        let descriptor: OwnedDescriptor
        do {
            descriptor = try OwnedDescriptor(opening: path, flags: O_RDWR)
        } catch {
            let isDenied = error.code == EACCES || error.code == EPERM
            throw isDenied ? .accessDenied(path: path) : .notConnected(path: path)
        }
        guard Self.lock(descriptor.rawValue) else { throw .busy(path: path) }
        return HIDConnection(descriptor)
    }

    /// Excludes other programs that lock the device, as libfido2 does; waits up to two seconds for
    /// them.
    private static func lock(_ descriptor: Int32) -> Bool {
        for _ in 0..<20 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
            guard errno == EWOULDBLOCK || errno == EINTR else { return false }
            usleep(100_000)
        }
        return false
    }
}

/// An open device `/dev/hidrawN`. Each read and each write is a whole report.
final class HIDConnection: SecurityKeyConnection {
    private let descriptor: OwnedDescriptor

    init(_ descriptor: consuming OwnedDescriptor) {
        self.descriptor = descriptor
    }

    func write(_ report: [UInt8]) -> Bool {
        // The kernel expects the report's number first: 0 for a device without numbers.
        let numbered = [0] + report
        while true {
            let count = Glibc.write(descriptor.rawValue, numbered, numbered.count)
            guard count < 0, errno == EINTR else { return count == numbered.count }
        }
    }

    func read(timeout: Duration) throws(SecurityKeyError) -> [UInt8]? {
        // Rounded up, so that a rest of less than a millisecond does not become a busy loop.
        let (seconds, attoseconds) = min(timeout, .seconds(60)).components
        let milliseconds = Int32(clamping: seconds &* 1000 &+ attoseconds / 1_000_000_000_000_000 &+ 1)
        var request = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
        let isReady = poll(&request, 1, milliseconds)
        // The caller repeats the call until its deadline.
        if isReady == 0 || isReady < 0 && errno == EINTR { return nil }
        var report = [UInt8](repeating: 0, count: Self.reportCount)
        let count = Glibc.read(descriptor.rawValue, &report, report.count)
        if count < 0, errno == EINTR { return nil }
        guard count > 0 else { throw .connectionFailed }
        return Array(report.prefix(count))
    }

    /// The length of a report of a USB device in bytes.
    static let reportCount = 64
}
