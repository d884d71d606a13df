// SPDX-License-Identifier: Apache-2.0

import Glibc
import LinuxSystem
import Synchronization
@testable import SecurityKeyTesting
import Testing

@testable import SecurityKey

@Suite("USB transport of a security key", .longAnswerTimeout)
struct HIDTransportTests {
    /// Connects to a software authenticator over a socket that keeps packets, as `/dev/hidrawN`
    /// keeps reports.
    private final class Cable: SecurityKeyTransport {
        let device = SoftwareAuthenticator()
        /// The lengths of the packets that the authenticator has received.
        let lengths = Mutex<Set<Int>>([])

        func connect() throws(SecurityKeyError) -> any SecurityKeyConnection {
            // The thread of the last connection would take a report of this one.
            guard device.waitUntilClosed() else { throw .busy(path: "the last connection") }
            var ends: [Int32] = [-1, -1]
            guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0 else { throw .outOfMemory }
            let far = ends[1]
            let connection = try device.connect()
            BackgroundThread.run { self.carry(far, connection) }
            return HIDConnection(OwnedDescriptor(adopting: ends[0]))
        }

        /// Carries reports in both directions until the near end is closed.
        private func carry(_ descriptor: Int32, _ connection: any SecurityKeyConnection) {
            defer { close(descriptor) }
            while true {
                var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                if poll(&request, 1, 1) == 1 {
                    var packet = [UInt8](repeating: 0, count: 128)
                    var count = recv(descriptor, &packet, packet.count, 0)
                    while count < 0, errno == EINTR { count = recv(descriptor, &packet, packet.count, 0) }
                    guard count > 0 else { return }
                    lengths.withLock { _ = $0.insert(count) }
                    guard packet[0] == 0, connection.write(Array(packet[1..<max(count, 1)])) else { return }
                }
                while let report = try? connection.read(timeout: .zero) {
                    var sent = -1
                    repeat {
                        sent = report.withUnsafeBytes {
                            send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                        }
                    } while sent < 0 && errno == EINTR
                    // An authenticator that waits for a touch has a report at any time.
                    guard sent >= 0 else { return }
                }
            }
        }
    }

    /// Creates an empty file; returns its path and an open descriptor.
    private static func file() throws -> (path: String, descriptor: Int32) {
        var name = Array("/tmp/latchkey-test-XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        try #require(descriptor >= 0)
        return (String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self), descriptor)
    }

    @Test("A key on USB is enrolled and derives; a report is written with its number, in 65 bytes")
    func overDescriptor() throws {
        let cable = Cable()
        let key = SecurityKey(transport: cable)
        let credential = try key.enroll(verification: .touch)
        #expect(try key.secret(from: credential) == key.secret(from: credential))
        #expect(cable.lengths.withLock { $0 } == [65])
    }

    @Test("A wait for the touch on USB is cancelled, and ends with its timeout")
    func waits() throws {
        let cable = Cable()
        let key = SecurityKey(transport: cable)
        let credential = try key.enroll(verification: .touch)
        cable.device.change { $0.touch = .never }
        let cancellation = SecurityKeyCancellation()
        BackgroundThread.run { if cable.device.waitUntilTouchIsAwaited() { cancellation.request() } }
        #expect(throws: SecurityKeyError.cancelled) {
            _ = try key.deriveSecret(from: credential, timeout: .seconds(600), cancellation: cancellation)
        }
        #expect(throws: SecurityKeyError.noTouch) {
            _ = try key.deriveSecret(from: credential, timeout: .milliseconds(200))
        }
    }

    @Test("A device that is unplugged ends the operation at once")
    func unplugged() throws {
        var ends: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
        let connection = HIDConnection(OwnedDescriptor(adopting: ends[0]))
        close(ends[1])
        #expect(throws: SecurityKeyError.connectionFailed) { _ = try connection.read(timeout: .seconds(600)) }
    }

    @Test("A path without a device, and a file that is not one, are errors by name")
    func paths() throws {
        #expect(throws: SecurityKeyError.notConnected(path: "/dev/hidraw-none")) {
            _ = try HIDTransport(path: "/dev/hidraw-none").connect()
        }
        let file = SecurityKey(
            path: "/dev/null", manufacturer: "", product: "", transport: HIDTransport(path: "/dev/null"))
        #expect(throws: SecurityKeyError.connectionFailed) { _ = try file.describe() }
    }

    @Test("A device that this user must not open is an error by name", .enabled(if: geteuid() != 0))
    func denied() throws {
        let (path, descriptor) = try Self.file()
        defer {
            close(descriptor)
            unlink(path)
        }
        try #require(fchmod(descriptor, 0) == 0)
        #expect(throws: SecurityKeyError.accessDenied(path: path)) { _ = try HIDTransport(path: path).connect() }
    }

    @Test("A device that another program has locked is busy")
    func locked() throws {
        let (path, descriptor) = try Self.file()
        defer {
            close(descriptor)
            unlink(path)
        }
        try #require(flock(descriptor, LOCK_EX) == 0)
        #expect(throws: SecurityKeyError.busy(path: path)) { _ = try HIDTransport(path: path).connect() }
        try #require(flock(descriptor, LOCK_UN) == 0)
        _ = try HIDTransport(path: path).connect()
    }
}
