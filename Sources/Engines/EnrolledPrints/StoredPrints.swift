// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
internal import LinuxSystem

/// The enrolled set by the prints that fprintd stores, from latchkey-biometry-digest: a service of
/// root's, because only root can read them.
public struct StoredPrints: Sendable {
    private let socket: String
    private let trustedUser: UInt32
    private let timeout: Duration

    public static let defaultSocket = "/run/latchkey-biometry-digest/socket"

    /// - Parameters:
    ///   - trustedUser: the user who must listen at the socket; root, except in tests.
    ///   - timeout: for the whole answer.
    public init(socket: String = defaultSocket, trustedUser: UInt32 = 0, timeout: Duration = .seconds(5)) {
        self.socket = socket
        self.trustedUser = trustedUser
        self.timeout = timeout
    }

    /// Returns the set of the user's stored prints; nil if there is none.
    ///
    /// - Parameter user: must be the user of this process, because the service returns that user's set.
    public func enrolledSet(of user: UInt32) throws(EnrolledSetError) -> EnrolledSet? {
        guard user == geteuid() else { throw .otherUser(user) }
        switch try DigestAnswer(parsing: try answer()) {
        case .set(let set): return set
        case .empty: return nil
        case .failure: throw .failed("the helper reports a failure")
        }
    }

    private func answer() throws(EnrolledSetError) -> [UInt8] {
        let deadline = ContinuousClock.now + timeout
        let (connection, user) = try connect()
        guard user == trustedUser else { throw .untrustedHelper(user: user) }
        var bytes: [UInt8] = []
        // One byte more than an answer is read, so that a longer one is noticed.
        while bytes.count <= DigestAnswer.byteCount {
            guard Self.waitUntilReadable(connection, until: deadline) else { throw .timedOut }
            var byte: UInt8 = 0
            guard let count = withUnsafeMutableBytes(of: &byte, { try? connection.receive(into: $0) }) else {
                throw .invalidAnswer("a broken connection")
            }
            if count == 0 { break }
            bytes.append(byte)
        }
        return bytes
    }

    private func connect() throws(EnrolledSetError) -> (Socket, user: UInt32) {
        do throws(SystemError) {
            let connection = try Socket(connectingTo: socket)
            return (connection, try Peer(of: connection).user)
        } catch {
            throw .noHelper(error)
        }
    }

    private static func waitUntilReadable(_ socket: Socket, until deadline: ContinuousClock.Instant) -> Bool {
        while true {
            let left = deadline - ContinuousClock.now
            guard left > .zero else { return false }
            let milliseconds = left / .milliseconds(1)
            var entry = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&entry, 1, Int32(clamping: Int64(exactly: milliseconds.rounded(.up)) ?? 1)) > 0 { return true }
        }
    }
}
