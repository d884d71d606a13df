// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
public import LinuxSystem

/// Answers one connection of latchkey-biometry-digest. It reads nothing from the connection: it sends the set of the
/// user that the kernel reports.
public struct DigestService: Sendable {
    private let store: PrintStore

    public init(store: PrintStore = PrintStore()) { self.store = store }

    /// Sends 34 bytes to the peer, and ends the connection.
    ///
    /// - Throws: ``EnrolledSetError`` if the set cannot be read. The peer is told that it failed.
    public func answer(_ connection: Socket) throws(EnrolledSetError) {
        connection.setTimeouts(sending: Self.sendTimeout)
        let set = Result { () throws(EnrolledSetError) in try self.set(of: connection) }
        let answer: DigestAnswer =
            switch set {
            case .success(let set?): .set(set)
            case .success(nil): .empty
            case .failure: .failure
            }
        // An empty buffer of a new connection takes all bytes at once; a peer that has gone has no
        // use for them.
        _ = answer.bytes.withUnsafeBytes { try? connection.send($0) }
        connection.finish()
        _ = try set.get()
    }

    private func set(of connection: Socket) throws(EnrolledSetError) -> EnrolledSet? {
        let user: UInt32
        do throws(SystemError) {
            user = try Peer(of: connection).user
        } catch {
            throw .failed(error.description)
        }
        guard let name = UserAccount.name(of: user) else { throw .failed("user \(user) does not exist") }
        return try store.enrolledSet(ofUserNamed: name)
    }

    /// In seconds.
    private static let sendTimeout = 5
}
