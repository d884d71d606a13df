// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// What `latchkey status` tells of wrong passcodes, in the shape of its JSON.
struct WrongPasscodesReport: Encodable {
    /// How many there were since the last right one; the same one given again counts once.
    var count: Int
    /// When the delay began; absent where none is running.
    var delayBegan: String?
    /// The programs that gave them, the latest last; absent where latchkeyd does not know them.
    var programs: [Program]?

    struct Program: Encodable {
        var program: String
        var user: UInt32?
        /// The process that gave the last one.
        var process: Int32?
        /// How many it gave, the same ones counted each time.
        var count: Int
        var first: String
        var last: String
    }

    /// nil where there were none.
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

    /// The lines of the report for people.
    var rows: [(name: String, value: String)] {
        let delay = delayBegan.map { "; the delay began \($0), and holds up no recovery key" } ?? ""
        let first = (
            "wrong", "\(count == 1 ? "1 wrong passcode" : "\(count) wrong passcodes") since the last right one\(delay)"
        )
        guard let programs else {
            return [first, ("", "by programs that are not known: only latchkeyd's log tells them")]
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
