// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel
internal import KeychainStore
internal import LinuxSystem

/// Removes the refusals from a file that is no longer written. A gap replaces each run of them. The
/// gap carries the code that the next line is chained to, so that the lines that are kept do not
/// change.
struct AuditCompaction: ~Copyable {
    private var position: AuditPosition
    private let now: Double
    private var output: [UInt8] = []
    private var run: Run?
    private var removal: AuditRemoval?
    /// Whether every line so far is authentic.
    private var isIntact = true

    /// A run of lines that a gap can replace.
    private struct Run: ~Copyable {
        /// The position before the first line.
        let start: AuditPosition
        var lines: [AuditLine] = []
        var length = 0
        var refused: UInt64 = 0
        var count: UInt64 = 0
    }

    private init(start: consuming AuditPosition, now: Double) {
        position = start
        self.now = now
    }

    /// The remaining lines of a file, and the lines that were removed from it.
    struct Result {
        var lines: [UInt8]
        var removal: AuditRemoval
    }

    /// Compacts a file; returns nil if nothing can be removed. A file that was changed is kept as evidence, and so is a
    /// file with an unknown start position, for example after the loss of a device key.
    ///
    /// - Parameters:
    ///   - number: the number of the file.
    ///   - now: seconds since 2001.
    static func of(_ path: String, number: Int64, in store: KeychainStore, now: Double) throws(SystemError) -> Result? {
        guard let start = (try? store.audit.start(of: number)) ?? nil else { return nil }
        var compaction = AuditCompaction(start: start, now: now)
        let (_, hasPartialLine) = try AuditFile.read(path) { compaction.take($0) }
        compaction.endRun()
        guard compaction.isIntact, !hasPartialLine, let removal = compaction.removal else { return nil }
        return Result(lines: compaction.output, removal: removal)
    }

    private mutating func take(_ line: AuditLine) -> Bool {
        let gap = line.gap
        let before = position.copy()
        guard position.advance(over: line, gap) else {
            isIntact = false
            return false
        }
        guard gap != nil || line.refused > 0 else {
            endRun()
            append(line)
            return true
        }
        var open = Run(start: before)
        if let previous = run.take() { open = previous }
        open.lines.append(line)
        open.length += line.bytes.count + 1
        open.refused = open.refused.saturatingAdd(gap?.refused ?? line.refused)
        open.count = open.count.saturatingAdd(gap?.removal.lines ?? 1)
        run = consume open
        return true
    }

    /// Writes a gap for the collected lines if it is shorter than they are.
    private mutating func endRun() {
        guard let open = run.take() else { return }
        let gone = AuditRemoval(
            .refusals, first: open.start.sequence + 1, last: position.sequence, lines: open.count,
            since: open.lines.first.flatMap { $0.removal?.since ?? $0.time },
            until: open.lines.last.flatMap { $0.removal?.until ?? $0.time })
        let gap = AuditGap(removal: gone, refused: open.refused, code: position.code)
        let body = AuditContent.gap(gap).body(sequence: open.start.sequence + 1, time: now)
        let line = AuditLine(body: body, code: open.start.key.code(of: body, after: open.start.code))
        guard line.bytes.count + 1 < open.length else {
            for line in open.lines { append(line) }
            return
        }
        append(line)
        removal = removal.map { $0.joined(with: gone) } ?? gone
    }

    private mutating func append(_ line: AuditLine) {
        output += line.bytes
        output.append(UInt8(ascii: "\n"))
    }
}

extension AuditPosition {
    /// Advances over a line, or over the lines that a gap replaces; returns false if the line is
    /// not authentic.
    mutating func advance(over line: AuditLine, _ gap: AuditGap?) -> Bool {
        guard line.sequence == sequence + 1, let body = line.body, let found = line.code,
            found == key.code(of: body, after: code)
        else {
            return false
        }
        let last = gap?.removal.last ?? sequence + 1
        code = gap?.code ?? found
        while sequence < last {
            sequence += 1
            key.ratchet()
        }
        return true
    }
}

extension AuditRemoval {
    /// Returns both removals as one.
    func joined(with later: AuditRemoval) -> AuditRemoval {
        var joined = self
        joined.last = max(last, later.last)
        joined.lines = lines.saturatingAdd(later.lines)
        joined.until = later.until ?? until
        return joined
    }
}

extension FixedWidthInteger {
    /// Returns the sum, or the maximum value if the sum would exceed it.
    func saturatingAdd(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
