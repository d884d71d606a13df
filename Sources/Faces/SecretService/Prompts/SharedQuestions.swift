// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import SystemBus

/// The subject of a question to a person, so that equal questions are one.
enum QuestionKey: Hashable, Sendable {
    /// The passcode of a keychain.
    case passcode(LockDomain)
    /// A new passcode, and the present one.
    case newPasscode(LockDomain)
    /// Whether the program of a connection may read these items.
    case consent(BusName, [ItemReference])
}

/// Questions that several programs wait for. Each is asked once at a time, on a thread of its own,
/// and its answer is for all that wait.
final class SharedQuestions: Sendable {
    /// Asks, and returns whether the person has complied.
    typealias Ask = @Sendable (Cancellation) -> Bool
    typealias Completion = @Sendable (Bool) -> Void

    private struct Question {
        /// Distinguishes it from a later one about the same.
        let number: UInt64
        let cancellation: Cancellation
        /// In the order of their arrival.
        var waiting: [(identifier: UInt64, completion: Completion)]
    }

    private struct State {
        var questions: [QuestionKey: Question] = [:]
        var next: UInt64 = 1
        /// The threads that ask, also for a question that was withdrawn and is about to end.
        var running = 0
    }

    private let state = SystemMutex(State())

    /// Asks, or waits for the answer of an equal question that is open.
    ///
    /// - Parameters:
    ///   - identifier: for ``withdraw(_:)``.
    ///   - completion: called once on another thread, unless the question is withdrawn.
    func ask(
        _ key: QuestionKey, _ identifier: UInt64, with ask: @escaping Ask, completion: @escaping Completion
    ) {
        let fresh = state.withLock { state -> (number: UInt64, cancellation: Cancellation, hasThread: Bool)? in
            if state.questions[key] != nil {
                state.questions[key]?.waiting.append((identifier, completion))
                return nil
            }
            let (number, cancellation) = (state.next, Cancellation())
            state.next += 1
            state.questions[key] = Question(
                number: number, cancellation: cancellation, waiting: [(identifier, completion)])
            // Questions that are withdrawn and asked again and again do not start threads without end.
            let hasThread = state.running < Self.maxRunning
            if hasThread { state.running += 1 }
            return (number, cancellation, hasThread)
        }
        guard let fresh else { return }
        guard fresh.hasThread else { return finish(key, fresh.number, false) }
        let isRunning = BackgroundThread.run { [self] in
            let isDone = ask(fresh.cancellation)
            endThread()
            finish(key, fresh.number, isDone)
        }
        guard !isRunning else { return }
        endThread()
        finish(key, fresh.number, false)
    }

    private func endThread() { state.withLock { $0.running -= 1 } }

    private static let maxRunning = 16

    /// Ends the wait for an answer; the last one that waits ends the question.
    func withdraw(_ identifier: UInt64) {
        state.withLock { state in
            for key in Array(state.questions.keys) {
                state.questions[key]?.waiting.removeAll { $0.identifier == identifier }
                guard let question = state.questions[key], question.waiting.isEmpty else { continue }
                question.cancellation.request()
                // The next one about the same is asked anew.
                state.questions[key] = nil
            }
        }
    }

    private func finish(_ key: QuestionKey, _ number: UInt64, _ isDone: Bool) {
        let waiting = state.withLock { state -> [(identifier: UInt64, completion: Completion)] in
            guard state.questions[key]?.number == number else { return [] }
            return state.questions.removeValue(forKey: key)?.waiting ?? []
        }
        for entry in waiting { entry.completion(isDone) }
    }
}
