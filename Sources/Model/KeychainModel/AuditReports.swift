// SPDX-License-Identifier: Apache-2.0

/// Lines of the audit log, each a JSON object.
public struct AuditLines: Sendable, Equatable {
    public var lines: [String]
    /// The number of the last line there is, whether or not it is among these.
    public var last: UInt64

    public init(lines: [String], last: UInt64) {
        self.lines = lines
        self.last = last
    }
}

/// What a check of the audit log found.
public struct AuditVerdict: Sendable, Equatable {
    public var isIntact: Bool
    /// How many lines were looked at.
    public var lines: Int
    /// The number of the first line that is not what was written, or that is missing.
    public var firstWrong: UInt64?
    public var detail: String

    public init(isIntact: Bool, lines: Int, firstWrong: UInt64? = nil, detail: String) {
        self.isIntact = isIntact
        self.lines = lines
        self.firstWrong = firstWrong
        self.detail = detail
    }
}
