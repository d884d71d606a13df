// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// What a line of the log says.
enum AuditContent: Sendable {
    /// One decision.
    case decision(AuditEntry)
    /// Decisions that were counted instead of written.
    case repeats(AuditRepetition)
    /// Files of the log that were removed.
    case removal(AuditRemoval)
    /// Refusals that stood in its place.
    case gap(AuditGap)

    /// The line without its code.
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

/// The same decision, several times.
struct AuditRepetition: Sendable {
    /// The last of them.
    var entry: AuditEntry
    /// How many were counted; the first one, which has a line of its own, is not among them.
    var count: Int
    /// The times of the first and the last that were counted, in seconds since 2001.
    var first: Double
    var last: Double
    /// Whether the program has used up its part of the file, so that decisions in other groups are counted as the same.
    var isThrottled: Bool
}

/// What stands in the place of refusals that were removed. The lines that follow are chained to ``code``.
struct AuditGap: Sendable {
    /// The lines that were there, none kept between them.
    var removal: AuditRemoval
    /// How many refusals they told of, those that were only counted included.
    var refused: UInt64
    /// The code of the last line that was there.
    var code: [UInt8]
}

// MARK: Reading

extension AuditLine {
    /// What the line says of lines that are no longer kept; nil where it says something else.
    var removal: AuditRemoval? {
        guard let operation = string("operation"), operation == "rotate" || operation == "gap",
            string("program") == "latchkeyd",
            let reason = string("reason").flatMap(AuditRemoval.Reason.init), let first: UInt64 = number("from"),
            let last: UInt64 = number("to"), let lines: UInt64 = number("lines"), first <= last
        else { return nil }
        return AuditRemoval(
            reason, first: first, last: last, lines: lines, since: time("since"), until: time("until"), removed: time)
    }

    /// What the line says where it stands in the place of others; nil where it does not.
    var gap: AuditGap? {
        guard string("operation") == "gap", let removal, removal.first == sequence,
            let refused: UInt64 = number("refused"),
            let code = code("code")
        else { return nil }
        return AuditGap(removal: removal, refused: refused, code: code)
    }

    /// How many refusals the line tells of; 0 where it tells of something else.
    var refused: UInt64 {
        guard let status: Int32 = number("status"), status != 0 else { return 0 }
        return max(1, number("repeated") ?? 1)
    }

    /// The program whose line it is; nil where the line names none.
    var source: AuditSource? {
        string("program").map { AuditSource(user: number("user"), program: $0, digest: string("programDigest")) }
    }
}
