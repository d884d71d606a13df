// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyProtocol
internal import LatchkeyService
internal import LinuxSystem

/// The audit log, which is read and verified as slow work.
extension RequestHandler {
    /// Sends the lines behind a number and since a time. The pool is left while a part is sent: a client that does not read holds none of its
    /// threads.
    func readLog(_ keychain: ServedKeychain, _ after: UInt64, _ since: Double?, _ reply: Reply) throws(KeychainError)
        -> Response
    {
        let audit = try audit(keychain)
        guard let permit = server.shared.logReadings.acquire(for: user, timeout: server.limits.timeout) else {
            throw KeychainError(
                .notAvailable, "this user reads the audit log too many times at once",
                hint: "wait for the others to end")
        }
        defer { withExtendedLifetime(permit) {} }
        let reading = try audit.reading(after: after, since: since)
        while true {
            let part = try slow(.computation) { () throws(KeychainError) in try reading.nextPart(length: Self.partSize)
            }
            guard !part.isLast else {
                return .logLines(AuditLines(lines: part.lines, last: reading.last), moreFollows: false)
            }
            let isConnected =
                part.lines.isEmpty
                ? !channel.socket.isHungUp
                : reply.trySend(.logLines(AuditLines(lines: part.lines, last: 0), moreFollows: true))
            guard isConnected else {
                throw KeychainError(.io, "the client has gone before the log was read to its end")
            }
        }
    }

    func verifyLog(_ keychain: ServedKeychain) throws(KeychainError) -> Response {
        let audit = try audit(keychain)
        return try slow(.computation) { () throws(KeychainError) in .logVerdict(try audit.verify()) }
    }

    private func audit(_ keychain: ServedKeychain) throws(KeychainError) -> AuditLog {
        guard let audit = keychain.audit else {
            throw KeychainError(.notAvailable, "this keychain keeps no audit log", hint: "ask outside of the session")
        }
        return audit
    }
}
