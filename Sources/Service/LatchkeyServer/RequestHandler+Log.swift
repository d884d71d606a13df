// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyProtocol
internal import LatchkeyService
internal import LinuxSystem

/// Reading and verifying the audit log, as slow work.
extension RequestHandler {
    /// Sends the lines after a line number and since a time. A part is sent outside of the pool, so
    /// that a client that does not read blocks none of the pool's threads.
    func readLog(_ keychain: ServedKeychain, _ after: UInt64, _ since: Double?, _ reply: Reply) throws(KeychainError)
        -> Response
    {
        let audit = try audit(keychain)
        guard let permit = server.shared.logReadings.acquire(for: user, timeout: server.limits.timeout) else {
            throw KeychainError(
                .notAvailable, "too many concurrent reads of the audit log by this user",
                hint: "wait until the others have ended")
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
                throw KeychainError(.io, "the client disconnected before the end of the audit log was sent")
            }
        }
    }

    func verifyLog(_ keychain: ServedKeychain) throws(KeychainError) -> Response {
        let audit = try audit(keychain)
        return try slow(.computation) { () throws(KeychainError) in .logVerdict(try audit.verify()) }
    }

    private func audit(_ keychain: ServedKeychain) throws(KeychainError) -> AuditLog {
        guard let audit = keychain.audit else {
            throw KeychainError(
                .notAvailable, "this keychain has no audit log", hint: "run the command outside of the session")
        }
        return audit
    }
}
