// SPDX-License-Identifier: Apache-2.0

/// When a person cancelled the questions of each program, as far as it matters.
struct CancellationHistory {
    /// In nanoseconds.
    private let window: UInt64
    /// The last cancellations, at most two of each program.
    private var times: [PromptProgram: (before: UInt64?, last: UInt64)] = [:]

    init(window: UInt64) { self.window = window }

    /// Whether the program's questions are cancelled without a prompt: its last two cancellations
    /// were within the window, and the window since the last one has not passed.
    func isSilenced(_ program: PromptProgram, now: UInt64) -> Bool {
        guard let (before, last) = times[program], let before else { return false }
        return last < before &+ window && now < last &+ window
    }

    mutating func record(_ program: PromptProgram, now: UInt64) {
        times[program] = (times[program]?.last, now)
    }

    /// Removes the programs with expired cancellations.
    mutating func prune(now: UInt64) {
        guard !times.isEmpty else { return }
        times = times.filter { now < $0.value.last &+ window }
    }

    /// The number of programs, for tests.
    var count: Int { times.count }
}
