// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel
internal import KeychainStore
internal import LinuxSystem

/// Holds the files of the log against the positions that the database and the writer remember.
struct AuditCheck {
    let store: KeychainStore
    let path: (_ age: Int) -> String

    func verdict(of newest: Int64, head: borrowing AuditPosition) throws(KeychainError) -> AuditVerdict {
        var lines = 0
        var end: (sequence: UInt64, code: [UInt8])?
        do throws(StoreError) {
            for number in try store.auditFiles() {
                guard var position = try store.auditStart(of: number) else { continue }
                if let end, end.sequence != position.sequence || end.code != position.code {
                    return missing(after: end.sequence, lines, number)
                }
                if let wrong = try check(Int(newest - number), &position, &lines, until: head.sequence) { return wrong }
                end = (position.sequence, position.code)
            }
        } catch {
            throw KeychainError(error)
        }
        guard let end, end.sequence == head.sequence, end.code == head.code else {
            let last = end?.sequence ?? 0
            return AuditVerdict(
                isIntact: false, lines: lines, firstWrong: last + 1,
                detail: "the log ends with line \(last), but line \(head.sequence) was written")
        }
        return AuditVerdict(
            isIntact: true, lines: lines,
            detail: lines == 0 ? "the log is empty" : "every line is what was written, up to line \(end.sequence)")
    }

    /// Moves `position` over the lines of a file; what is wrong with the first one that it does not fit.
    private func check(_ age: Int, _ position: inout AuditPosition, _ lines: inout Int, until last: UInt64) throws(StoreError)
        -> AuditVerdict?
    {
        var (sequence, code, count, wrong) = (position.sequence, position.code, lines, UInt64?.none)
        var key = position.key.copy()
        let hasRest: Bool
        do throws(SystemError) {
            hasRest = try AuditFile.read(path(age)) { line in
                // What is written meanwhile is looked at the next time.
                guard sequence < last else {
                    if line.sequence == nil { wrong = sequence + 1 }
                    return false
                }
                guard line.sequence == sequence + 1, let body = line.body, let found = line.code, found == key.code(of: body, after: code)
                else {
                    wrong = sequence + 1
                    return false
                }
                (sequence, code, count) = (sequence + 1, found, count + 1)
                key.evolve()
                return true
            }.hasRest
        } catch {
            throw .system(error)
        }
        lines = count
        position = AuditPosition(sequence: sequence, code: code, key: key)
        if hasRest, wrong == nil { wrong = sequence + 1 }
        return wrong.map {
            AuditVerdict(isIntact: false, lines: count, firstWrong: $0, detail: "line \($0) is not what was written, or is missing")
        }
    }

    private func missing(after sequence: UInt64, _ lines: Int, _ number: Int64) -> AuditVerdict {
        AuditVerdict(
            isIntact: false, lines: lines, firstWrong: sequence + 1,
            detail: "a file of the log ends with line \(sequence), which is not where the next one begins")
    }
}
