// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// The content of a line of the log.
enum AuditContent: Sendable {
    /// One decision.
    case decision(AuditEntry)
    /// Decisions that were counted instead of written.
    case repeats(AuditRepetition)
    /// Files of the log that were removed.
    case removal(AuditRemoval)
    /// Refusals that this line replaces.
    case gap(AuditGap)

    /// Returns the line without its code.
    ///
    /// - Parameter time: seconds since 2001.
    func body(sequence: UInt64, time: Double) -> [UInt8] {
        var text = AuditText()
        text.append("{\"sequence\":")
        text.append(sequence)
        text.append("time", time: time)
        switch self {
        case .decision(let entry): text.append(entry)
        case .repeats(let repetition): text.append(repetition)
        case .removal(let removal):
            text.append(operationOfDaemon: "rotate")
            text.append(removal)
        case .gap(let gap):
            text.append(operationOfDaemon: "gap")
            text.append(gap.removal)
            text.append("refused", number: gap.refused)
            text.append("code", text: Hexadecimal.text(gap.code))
        }
        return text.bytes
    }
}

extension AuditText {
    fileprivate mutating func append(_ entry: AuditEntry, withGroup: Bool = true) {
        if let process = entry.process {
            append("user", number: process.user)
            append("process", number: process.process)
        }
        append("program", name: entry.program)
        append("grade", text: "\(entry.grade)")
        append("operation", text: entry.operation)
        if let itemClass = entry.itemClass { append("class", text: itemClass.rawValue) }
        if withGroup, let group = entry.group {
            append("group", name: group.name)
            append("groupGrade", text: "\(group.grade)")
        }
        if let keychain = entry.keychain { append("keychain", name: keychain) }
        append("count", number: entry.count)
        append("status", number: entry.status.rawValue)
        if let passcode = entry.passcode { append("passcode", text: passcode.rawValue) }
    }

    fileprivate mutating func append(_ repetition: AuditRepetition) {
        append(repetition.entry, withGroup: !repetition.isThrottled)
        append("repeated", number: repetition.count)
        append("first", time: repetition.first)
        append("last", time: repetition.last)
        if repetition.isThrottled { append(",\"throttled\":true") }
    }

    fileprivate mutating func append(operationOfDaemon operation: String) {
        append(",\"program\":\"latchkeyd\",\"grade\":\"claimed\"")
        append("operation", text: operation)
        append(",\"count\":0,\"status\":0")
    }

    fileprivate mutating func append(_ removal: AuditRemoval) {
        append("reason", text: removal.reason.rawValue)
        append("from", number: removal.first)
        append("to", number: removal.last)
        append("lines", number: removal.lines)
        if let since = removal.since { append("since", text: AuditTime.text(since1970: since)) }
        if let until = removal.until { append("until", text: AuditTime.text(since1970: until)) }
    }
}

/// One decision that was made several times.
struct AuditRepetition: Sendable {
    /// The last of the decisions.
    var entry: AuditEntry
    /// The number of counted decisions, without the first one, because it has its own line.
    var count: Int
    /// The times of the first and the last counted decision, in seconds since 2001.
    var first: Double
    var last: Double
    /// Whether the program has used up its part of the file, so that decisions in different groups
    /// count as the same.
    var isThrottled: Bool
}

/// Replaces refusals that were removed. The line after it is chained to ``code``.
struct AuditGap: Sendable {
    /// The lines that were replaced, without interruption.
    var removal: AuditRemoval
    /// The number of refusals that the lines reported, including those that were only counted.
    var refused: UInt64
    /// The code of the last line that was replaced.
    var code: [UInt8]
}

// MARK: Reading

extension AuditLine {
    /// The removed lines that the line reports; nil if it does not report any.
    var removal: AuditRemoval? {
        guard let operation = string("operation"), operation == "rotate" || operation == "gap",
            string("program") == "latchkeyd",
            let reason = string("reason").flatMap(AuditRemoval.Reason.init), let first: UInt64 = number("from"),
            let last: UInt64 = number("to"), let lines: UInt64 = number("lines"), first <= last
        else { return nil }
        return AuditRemoval(
            reason, first: first, last: last, lines: lines, since: time("since"), until: time("until"), removed: time)
    }

    /// The gap that the line is; nil if it is not a gap.
    var gap: AuditGap? {
        guard string("operation") == "gap", let removal, removal.first == sequence,
            let refused: UInt64 = number("refused"),
            let code = code("code")
        else { return nil }
        return AuditGap(removal: removal, refused: refused, code: code)
    }

    /// The number of refusals that the line reports.
    var refused: UInt64 {
        guard let status: Int32 = number("status"), status != 0 else { return 0 }
        return max(1, number("repeated") ?? 1)
    }

    /// The program that the line belongs to; nil if it names none.
    var source: AuditSource? {
        string("program").map { AuditSource(user: number("user"), program: $0, digest: string("programDigest")) }
    }
}
