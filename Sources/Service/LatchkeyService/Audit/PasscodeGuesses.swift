// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The programs that gave wrong passcodes since the last accepted one, from the lines of the log.
struct PasscodeGuesses: Sendable {
    /// The latest program is last.
    private(set) var sources: [PasscodeGuess] = []

    /// The maximum number of programs.
    static let maxSources = 8

    /// Adds an entry.
    ///
    /// - Parameters:
    ///   - time: seconds since 2001.
    ///   - count: the number of such entries.
    mutating func record(_ entry: AuditEntry, at time: Double, count: Int = 1) {
        guard let passcode = entry.passcode else { return }
        record(
            passcode,
            PasscodeGuess(
                program: entry.program.text, user: entry.process?.user, process: entry.process?.process, count: count,
                first: time + Double(Clocks.secondsBetweenEpochs), last: time + Double(Clocks.secondsBetweenEpochs)))
    }

    /// Adds a line of the log.
    mutating func record(_ line: AuditLine) {
        guard let passcode = line.string("passcode").flatMap(AuditEntry.Passcode.init),
            let program = line.string("program"),
            let time = line.time
        else { return }
        record(
            passcode,
            PasscodeGuess(
                program: AuditName.text(program), user: line.number("user"), process: line.number("process"),
                count: max(1, line.number("repeated") ?? 1), first: line.time("first") ?? time,
                last: line.time("last") ?? time))
    }

    private mutating func record(_ passcode: AuditEntry.Passcode, _ guess: PasscodeGuess) {
        guard passcode == .wrong else {
            sources = []
            return
        }
        var guess = guess
        if let known = sources.firstIndex(where: { $0.program == guess.program && $0.user == guess.user }) {
            let previous = sources.remove(at: known)
            guess.first = previous.first
            guess.count = previous.count.saturatingAdd(guess.count)
        }
        sources.append(guess)
        if sources.count > Self.maxSources { sources.removeFirst() }
    }
}
