// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyClient
internal import LinuxSystem

/// The evaluations of one authentication context. They run one after the other on a thread of their own. Each gets
/// exactly one reply, never from inside the call that started it.
final class ContextEvaluator: Sendable {
    /// The work of an evaluation; it blocks while the person is asked.
    typealias Work = @Sendable (AuthenticationContext) throws -> Void
    /// Receives nil for a success, otherwise the error for the app.
    typealias Reply = @Sendable ((any Error)?) -> Void

    private struct State {
        /// The evaluations that have not started, in the order of the calls.
        var waiting: [(number: Int, run: @Sendable () -> Result<Void, any Error>)] = []
        /// The replies that have not been sent, by the number of the evaluation.
        var replies: [Int: Reply] = [:]
        var lastNumber = 0
        var hasThread = false
        var isInvalid = false
    }

    let context: AuthenticationContext
    private let state = SystemMutex(State())

    init(_ context: AuthenticationContext = AuthenticationContext()) { self.context = context }

    /// Whether ``invalidate()`` was called.
    var isInvalid: Bool { state.withLock { $0.isInvalid } }

    /// Performs an evaluation, with the caller of the current task.
    func evaluate(_ work: @escaping Work, reply: @escaping Reply) {
        let run = KeychainClient.bound { [context] in Result { try work(context) } }
        let (isInvalid, needsThread) = state.withLock { state in
            if state.isInvalid { return (true, false) }
            state.lastNumber += 1
            state.waiting.append((state.lastNumber, run))
            state.replies[state.lastNumber] = reply
            defer { state.hasThread = true }
            return (false, !state.hasThread)
        }
        if isInvalid {
            // Not behind an evaluation that has not noticed yet that the context has ended.
            Self.onThread { reply(LAError(.invalidContext)) }
        } else if needsThread {
            Self.onThread { [self] in runEvaluations() }
        }
    }

    /// Ends the context. Evaluations without a reply fail with `LAError.appCancel`, without waiting
    /// for the prompt to disappear; later ones fail with `LAError.invalidContext`.
    func invalidate() {
        let replies = state.withLock { state in
            defer {
                state.isInvalid = true
                state.replies = [:]
                state.waiting = []
            }
            return state.replies.sorted { $0.key < $1.key }.map(\.value)
        }
        if !replies.isEmpty { Self.onThread { for reply in replies { reply(LAError(.appCancel)) } } }
        context.invalidate()
    }

    private func runEvaluations() {
        while let (number, run) = nextEvaluation() {
            let outcome = run()
            // Invalidation may have replied already.
            guard let reply = state.withLock({ $0.replies.removeValue(forKey: number) }) else { continue }
            switch outcome {
            case .success: reply(nil)
            case .failure(let error): reply(LAError.reporting(error))
            }
        }
    }

    private func nextEvaluation() -> (Int, @Sendable () -> Result<Void, any Error>)? {
        state.withLock { state in
            state.hasThread = !state.waiting.isEmpty
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
    }

    /// Runs `work` on a new thread. If the system has none, the calling thread runs it.
    private static func onThread(_ work: @escaping @Sendable () -> Void) {
        if !BackgroundThread.run(work) { work() }
    }
}
