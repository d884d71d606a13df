// SPDX-License-Identifier: Apache-2.0

/// The result of an inspection of every row.
public struct StoreInspection: Sendable {
    public var rows = 0
    public var damaged: [DamagedRow] = []
    /// The number of rows of locked classes. They were not opened.
    public var closed = 0
    public var quarantined = 0
    /// The findings of SQLite's integrity check; empty if it reports "ok".
    public var structure: [String] = []
}
