// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel
internal import KeychainStore
internal import LinuxSystem

/// Compares the files of the log with the positions that the database and the writer have stored.
struct AuditCheck {
    let store: KeychainStore
    let path: (_ age: Int) -> String

    func verdict(of newest: Int64, head: borrowing AuditPosition) throws(KeychainError) -> AuditVerification {
        var lines = 0
        var removals: [AuditRemoval] = []
        var end: (sequence: UInt64, code: [UInt8])?
        do throws(StoreError) {
            for number in try store.audit.files() {
                guard var position = try store.audit.start(of: number) else { continue }
                if let end, end.sequence != position.sequence || end.code != position.code {
                    return missing(after: end.sequence, lines, number)
                }
                let wrong = try check(Int(newest - number), &position, &lines, &removals, until: head.sequence)
                if let wrong { return wrong }
                end = (position.sequence, position.code)
            }
        } catch {
            throw KeychainError(error)
        }
        guard let end, end.sequence == head.sequence, end.code == head.code else {
            let last = end?.sequence ?? 0
            return AuditVerification(
                isIntact: false, lines: lines, firstWrong: last + 1,
                detail: "the log ends with line \(last), but line \(head.sequence) was written")
        }
        return AuditVerification(
            isIntact: true, lines: lines,
            detail: lines == 0 ? "the log is empty" : "every line is intact, up to line \(end.sequence)",
            removals: removals.suffix(Self.maxRemovals))
    }

    private static let maxRemovals = 64

    /// Advances `position` over the lines of a file; returns a failed verdict for the first line
    /// that does not fit.
    private func check(
        _ age: Int, _ position: inout AuditPosition, _ lines: inout Int, _ removals: inout [AuditRemoval],
        until last: UInt64
    ) throws(StoreError) -> AuditVerification? {
        var (count, wrong, found) = (lines, UInt64?.none, removals)
        var end = position.copy()
        let hasPartialLine: Bool
        do throws(SystemError) {
            hasPartialLine = try AuditFile.read(path(age)) { line in
                // Lines that are written during the check are left to the next one.
                guard end.sequence < last else {
                    if line.sequence == nil { wrong = end.sequence + 1 }
                    return false
                }
                let gap = line.gap
                guard gap.map({ $0.removal.last <= last }) ?? true, end.advance(over: line, gap) else {
                    wrong = end.sequence + 1
                    return false
                }
                if let removal = line.removal { found.record(removal) }
                count += 1
                return true
            }.hasPartialLine
        } catch {
            throw .system(error)
        }
        (lines, removals) = (count, found)
        if hasPartialLine, wrong == nil { wrong = end.sequence + 1 }
        position = end
        return wrong.map {
            AuditVerification(
                isIntact: false, lines: count, firstWrong: $0,
                detail: "line \($0) was changed or is missing")
        }
    }

    private func missing(after sequence: UInt64, _ lines: Int, _ number: Int64) -> AuditVerification {
        AuditVerification(
            isIntact: false, lines: lines, firstWrong: sequence + 1,
            detail: "a file of the log ends with line \(sequence), but the next file does not begin there")
    }
}

extension [AuditRemoval] {
    /// Adds the removal that a line reports. All gaps of one file are one removal.
    fileprivate mutating func record(_ removal: AuditRemoval) {
        guard removal.reason == .refusals, let previous = last, previous.reason == .refusals,
            previous.removed == removal.removed
        else {
            return append(removal)
        }
        self[count - 1] = previous.joined(with: removal)
    }
}
