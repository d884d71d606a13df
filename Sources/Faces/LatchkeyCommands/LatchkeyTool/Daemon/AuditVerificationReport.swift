// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// The report of `latchkey log verify`, in the shape of its JSON.
struct AuditVerificationReport: Encodable {
    var intact: Bool
    var lines: Int
    /// The number of the first wrong line; absent if there is none.
    var firstWrong: UInt64?
    var detail: String
    /// Lines that are no longer stored; absent if there are none.
    var removals: [Removal]?

    struct Removal: Encodable {
        /// `age`, `size`, `refusals` or `unknown`.
        var reason: String
        /// The numbers of the first and the last line.
        var from: UInt64
        var to: UInt64
        var lines: UInt64
        /// The times of the first line, of the last line and of the removal; absent if they are not
        /// known.
        var since: String?
        var until: String?
        var removed: String?
    }

    init(_ verdict: AuditVerification) {
        intact = verdict.isIntact
        lines = verdict.lines
        firstWrong = verdict.firstWrong
        detail = verdict.detail
        let removals = verdict.removals.map { Removal($0) }
        self.removals = removals.isEmpty ? nil : removals
    }

    var text: TerminalText {
        let verdict: TerminalText =
            "\(intact ? "intact" : "NOT INTACT"): \(detail) (\(lines == 1 ? "1 line" : "\(lines) lines") verified)\n"
        return verdict + (removals ?? []).map(\.text).joined()
    }
}

extension AuditVerificationReport.Removal {
    init(_ removal: AuditRemoval) {
        reason = removal.reason.rawValue
        from = removal.first
        to = removal.last
        lines = removal.lines
        since = removal.since.map(LogTime.text)
        until = removal.until.map(LogTime.text)
        removed = removal.removed.map(LogTime.text)
    }

    var text: TerminalText {
        let times = since.flatMap { since in until.map { " (\(since) to \($0))" } } ?? ""
        let removalTime = removed.map { " on \($0)" } ?? ""
        return "removed: \(what)\(times)\(removalTime), \(why)\n"
    }

    private var what: String {
        guard reason != AuditRemoval.Reason.refusals.rawValue else {
            return "\(lines) refusals between lines \(from) and \(to)"
        }
        return from == to ? "line \(from)" : "lines \(from) to \(to)"
    }

    private var why: String {
        switch AuditRemoval.Reason(rawValue: reason) {
        case .age: "because of their age"
        case .size: "early, because the log was full"
        case .refusals: "early, because the log was full; refusals are removed first"
        case .unknown, nil: "for a reason that was not recorded, because latchkeyd was killed"
        }
    }
}
