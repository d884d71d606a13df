// SPDX-License-Identifier: Apache-2.0

/// Lines of the audit log, each a JSON object.
public struct AuditLines: Sendable, Equatable {
    public var lines: [String]
    /// The number of the last line of the log, whether or not it is in `lines`.
    public var last: UInt64

    public init(lines: [String], last: UInt64) {
        self.lines = lines
        self.last = last
    }
}

/// Lines of the audit log that are no longer kept.
public struct AuditRemoval: Sendable, Equatable {
    /// Why lines are removed.
    public enum Reason: String, Sendable, CaseIterable {
        /// The lines are older than the log has to keep.
        case age
        /// The log exceeded its size limit, although the lines were not old enough to be removed.
        case size
        /// The log exceeded its size limit. The lines are refusals, because refusals are removed first; other lines
        /// between them may be kept.
        case refusals
        /// The daemon ended before it could record the reason.
        case unknown
    }

    public var reason: Reason
    /// The number of the first line.
    public var first: UInt64
    /// The number of the last line.
    public var last: UInt64
    /// How many lines were removed.
    public var lines: UInt64
    /// The time of the first line, in seconds since 1970; nil if unknown.
    public var since: Double?
    /// The time of the last line, in seconds since 1970; nil if unknown.
    public var until: Double?
    /// When the lines were removed, in seconds since 1970; nil if unknown.
    public var removed: Double?

    public init(
        _ reason: Reason, first: UInt64, last: UInt64, lines: UInt64, since: Double? = nil, until: Double? = nil,
        removed: Double? = nil
    ) {
        self.reason = reason
        self.first = first
        self.last = last
        self.lines = lines
        self.since = since
        self.until = until
        self.removed = removed
    }
}

/// The result of verifying the audit log.
public struct AuditVerification: Sendable, Equatable {
    public var isIntact: Bool
    /// The number of verified lines.
    public var lines: Int
    /// The number of the first line that was changed or is missing.
    public var firstWrong: UInt64?
    public var detail: String
    /// The removals that the log records, the oldest first; at most the newest 64.
    public var removals: [AuditRemoval]

    public init(isIntact: Bool, lines: Int, firstWrong: UInt64? = nil, detail: String, removals: [AuditRemoval] = []) {
        self.isIntact = isIntact
        self.lines = lines
        self.firstWrong = firstWrong
        self.detail = detail
        self.removals = removals
    }
}
