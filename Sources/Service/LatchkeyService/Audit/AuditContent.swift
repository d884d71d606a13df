// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

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
        let members =
            switch self {
            case .decision(let entry): Self.members(entry)
            case .repeats(let repetition):
                Self.members(repetition.entry, withGroup: !repetition.isThrottled) + Self.members(repetition)
            case .removal(let removal): Self.daemon("rotate") + Self.members(removal)
            case .gap(let gap): Self.daemon("gap") + Self.members(gap.removal) + Self.members(gap)
            }
        return Array("{\"sequence\":\(sequence),\"time\":\"\(AuditTime.text(time))\"\(members)".utf8)
    }

    private static func members(_ entry: AuditEntry, withGroup: Bool = true) -> String {
        var text = ""
        if let process = entry.process { text += ",\"user\":\(process.user),\"process\":\(process.process)" }
        text += ",\(entry.program.members("program")),\"grade\":\"\(entry.grade)\",\"operation\":\"\(entry.operation)\""
        if let itemClass = entry.itemClass { text += ",\"class\":\"\(itemClass.rawValue)\"" }
        if withGroup, let group = entry.group {
            text += ",\(group.name.members("group")),\"groupGrade\":\"\(group.grade)\""
        }
        text += ",\"count\":\(entry.count),\"status\":\(entry.status.rawValue)"
        if let passcode = entry.passcode { text += ",\"passcode\":\"\(passcode.rawValue)\"" }
        return text
    }

    private static func members(_ repetition: AuditRepetition) -> String {
        let times = ",\"first\":\"\(AuditTime.text(repetition.first))\",\"last\":\"\(AuditTime.text(repetition.last))\""
        return ",\"repeated\":\(repetition.count)\(times)" + (repetition.isThrottled ? ",\"throttled\":true" : "")
    }

    private static func daemon(_ operation: String) -> String {
        ",\"program\":\"latchkeyd\",\"grade\":\"claimed\",\"operation\":\"\(operation)\",\"count\":0,\"status\":0"
    }

    private static func members(_ removal: AuditRemoval) -> String {
        var text =
            ",\"reason\":\"\(removal.reason.rawValue)\",\"from\":\(removal.first),\"to\":\(removal.last),\"lines\":\(removal.lines)"
        if let since = removal.since { text += ",\"since\":\"\(AuditTime.text(since1970: since))\"" }
        if let until = removal.until { text += ",\"until\":\"\(AuditTime.text(since1970: until))\"" }
        return text
    }

    private static func members(_ gap: AuditGap) -> String {
        ",\"refused\":\(gap.refused),\"code\":\"\(AuditName.hexadecimal(gap.code))\""
    }
}

/// One decision that was made several times.
struct AuditRepetition: Sendable {
    /// The last of the decisions.
    var entry: AuditEntry
    /// The number of counted decisions, without the first one, which has its own line.
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
