// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The part about wrong passcodes of the report of `latchkey status`, in the shape of its JSON.
struct WrongPasscodesReport: Encodable {
    /// The number of wrong passcodes since the last correct one. Repetitions of the same one count
    /// once.
    var count: Int
    /// When the current delay began; absent if there is none.
    var delayBegan: String?
    /// The programs that sent them, the most recent last; absent if latchkeyd does not know them.
    var programs: [Program]?

    struct Program: Encodable {
        var program: String
        var user: UInt32?
        /// The process that sent the last one.
        var process: Int32?
        /// The number of wrong passcodes from this program, with repetitions.
        var count: Int
        var first: String
        var last: String
    }

    /// nil if there were no wrong passcodes.
    init?(_ lock: LockStatus) {
        guard lock.wrongPasscodes > 0 else { return nil }
        count = lock.wrongPasscodes
        delayBegan = lock.delayBegan.map(LogTime.text)
        let programs = lock.guesses.map { guess in
            Program(
                program: guess.program, user: guess.user, process: guess.process, count: guess.count,
                first: LogTime.text(guess.first),
                last: LogTime.text(guess.last))
        }
        self.programs = programs.isEmpty ? nil : programs
    }

    /// The lines of the report as text.
    var rows: [(name: String, value: String)] {
        let delay = delayBegan.map { "; the delay began \($0), and does not apply to a recovery key" } ?? ""
        let first = (
            "wrong",
            "\(count == 1 ? "1 wrong passcode" : "\(count) wrong passcodes") since the last correct one\(delay)"
        )
        guard let programs else {
            return [first, ("", "by unknown programs: only latchkeyd's log records them")]
        }
        return [first] + programs.map { ("", $0.text) }
    }
}

extension WrongPasscodesReport.Program {
    fileprivate var text: String {
        let facts = [user.map { "user \($0)" }, process.map { "process \($0)" }].compactMap { $0 }
        return "\(count) by \(program)\(facts.isEmpty ? "" : " (\(facts.joined(separator: ", ")))"), last \(last)"
    }
}
