// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc

/// Asks a thread that waits for events whether it still runs, without waking it at other times.
public final class Probe: Sendable {
    private let question: EventDescriptor
    private let answers = DispatchSemaphore(value: 0)

    public init() throws(SystemError) { question = try EventDescriptor() }

    /// Returns whether the thread answers within so many seconds. Only one thread may ask.
    public func isAnswered(within seconds: Int) -> Bool {
        // An answer that has come too late belongs to an earlier question.
        while answers.wait(timeout: .now()) == .success {}
        question.raise()
        return answers.wait(timeout: .now() + .seconds(seconds)) == .success
    }

    /// The entry for poll(2) to wait for a question.
    var entry: pollfd { question.entry }

    /// Answers a question that has arrived.
    func answer() {
        question.lower()
        answers.signal()
    }
}
