// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Sends the lines of the audit log. A part is sent outside of the pool, so that a client that does
/// not read blocks none of the pool's threads.
package struct ReadLog: KeychainOperation {
    /// Only lines with a number above this one.
    package let sequence: UInt64
    /// Only lines of this time and later, in seconds since 1970; nil for all.
    package let since: Double?

    package init(after sequence: UInt64, since: Double?) {
        self.sequence = sequence
        self.since = since
    }

    package static let traits: OperationTraits = [.administers, .worksWithoutLog]

    package var audit: AuditDetails? { nil }

    package func run(in context: some OperationContext) throws(KeychainError) -> LogPart {
        let log = try context.requireLog()
        guard let permit = context.acquire(.logReading) else {
            throw KeychainError(
                .notAvailable, "too many concurrent reads of the audit log by this user",
                hint: "wait until the others have ended")
        }
        defer { withExtendedLifetime(permit) {} }
        let reading = try log.reading(after: sequence, since: since)
        while true {
            let part = try context.slow(.computation) { () throws(KeychainError) in
                try reading.nextPart(length: ResponsePart.maxLength)
            }
            guard !part.isLast else {
                return LogPart(AuditLines(lines: part.lines, last: reading.last), moreFollows: false)
            }
            let isConnected =
                part.lines.isEmpty
                ? context.isConnected
                : context.send(LogPart(AuditLines(lines: part.lines, last: 0), moreFollows: true))
            guard isConnected else {
                throw KeychainError(.io, "the client disconnected before the end of the audit log was sent")
            }
        }
    }
}

/// Lines of the audit log: all that were requested, or a part of them.
package struct LogPart: ResponseContent, Equatable {
    package let lines: AuditLines
    package let moreFollows: Bool

    package init(_ lines: AuditLines, moreFollows: Bool) {
        self.lines = lines
        self.moreFollows = moreFollows
    }
}

extension OperationContext {
    /// Returns the audit log.
    ///
    /// - Throws: errSecNotAvailable if there is no audit log.
    func requireLog() throws(KeychainError) -> AuditLog {
        guard let log = try auditLog else {
            guard try mode == .session else { throw EmbeddedService.noAudit }
            throw KeychainError(
                .notAvailable, "this keychain has no audit log", hint: "run the command outside of the session")
        }
        return log
    }
}

extension OperationPerformer {
    /// Passes the lines of the audit log with a number above `sequence` to `body`, in parts.
    ///
    /// - Parameters:
    ///   - since: only lines of this time and later, in seconds since 1970.
    ///   - body: called with each part; it returns false to stop.
    /// - Returns: the number of the last line of the log; 0 if `body` has stopped before it.
    /// - Throws: errSecNotAvailable if no log is kept.
    package func auditLines(
        after sequence: UInt64, since: Double?, _ body: @escaping ([String]) -> Bool
    ) throws(KeychainError) -> UInt64 {
        var isStopped = false
        let exchange = Exchange(take: { (content) throws(KeychainError) in
            guard let part = content as? LogPart else { throw .unexpectedResponse }
            isStopped = !body(part.lines.lines)
            if isStopped { throw KeychainError(.userCanceled) }
        })
        do throws(KeychainError) {
            let last = try perform(ReadLog(after: sequence, since: since), exchange)
            _ = body(last.lines.lines)
            return last.lines.last
        } catch {
            guard isStopped else { throw error }
            return 0
        }
    }
}

// MARK: Coding

extension ReadLog {
    init(_ wire: WireReadLog) throws(WireError) {
        try requireKnown(wire)
        guard !wire.hasSince || wire.since.isFinite else { throw .malformed("a time is not finite") }
        sequence = wire.after
        since = wire.hasSince ? wire.since : nil
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireReadLog()
        wire.after = sequence
        if let since { wire.since = since }
        return .readLog(wire)
    }
}

extension LogPart {
    init(_ wire: WireLogLines) throws(WireError) {
        try requireKnown(wire)
        self.init(AuditLines(lines: wire.lines, last: wire.last), moreFollows: wire.moreFollows)
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        var wire = WireLogLines()
        wire.lines = lines.lines
        wire.last = lines.last
        wire.moreFollows = moreFollows
        return .logLines(wire)
    }
}
