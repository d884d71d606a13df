// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
public import LinuxSystem

/// Displays one question of a user at a time, and protects the person from programs that ask
/// repeatedly.
///
/// - Equal questions of a process (the same factor, item and reason) are one, with one answer.
/// - A cancellation ends all open questions of the program.
/// - A program with two cancellations within ten seconds is answered "cancelled" without a prompt.
/// - The number of open questions of a user and of a program has a limit.
public final class PromptGate: Sendable {
    private struct State {
        var queue: PromptQueue
        /// Decisions that the threads have not seen yet, and the semaphores that wake them.
        var decisions: [PromptQueue.Ticket: PromptQueue.Decision] = [:]
        var waiting: [PromptQueue.Ticket: DispatchSemaphore] = [:]
    }

    private let state: SystemMutex<State>
    private let clock: BootClock

    public init(limits: PromptLimits = PromptLimits(), clock: BootClock = .system) {
        state = SystemMutex(State(queue: PromptQueue(limits)))
        self.clock = clock
    }

    /// Waits until the question may be displayed, and calls `prompt`; or returns the answer of an
    /// equal question, or none.
    ///
    /// - Parameters:
    ///   - deadline: by the clock of the gate, in nanoseconds, for the wait and the question.
    ///   - cancellation: ends the wait.
    ///   - prompt: displays the question. It must return soon after the deadline or the
    ///     cancellation.
    public func ask(
        _ request: PresenceRequest, until deadline: UInt64, cancellation: Cancellation,
        prompt: () -> PresenceOutcome
    ) -> PresenceOutcome {
        let semaphore = DispatchSemaphore(value: 0)
        let ticket = state.withLock { state in
            let (ticket, decision) = state.queue.open(PromptQuestion(request), now: clock.now())
            state.decisions[ticket] = decision
            state.waiting[ticket] = semaphore
            return ticket
        }
        defer {
            state.withLock { state in
                state.waiting[ticket] = nil
                state.decisions[ticket] = nil
            }
        }
        switch wait(for: ticket, semaphore, until: deadline, cancellation) {
        case .answer(let outcome): return outcome
        case .ask: break
        }
        // A prompt that disappears at once would only confuse.
        guard deadline >= clock.now() &+ Self.minDisplay else { return leave(ticket, .timedOut) }
        guard !cancellation.isCancelled else { return leave(ticket, .cancelled) }
        let outcome = prompt()
        // If the program has gone, or its time is over, the person has not answered: an equal
        // question of another thread is displayed.
        if outcome == .timedOut || outcome == .cancelled && cancellation.isCancelled { return leave(ticket, outcome) }
        change { $0.finish(ticket, with: outcome, now: clock.now()) }
        return outcome
    }

    /// The number of open questions, for tests.
    var openCount: Int { state.withLock { $0.queue.counts.open } }

    // MARK: Waiting

    private func wait(
        for ticket: PromptQueue.Ticket, _ semaphore: DispatchSemaphore, until deadline: UInt64,
        _ cancellation: Cancellation
    ) -> PromptQueue.Decision {
        while true {
            if let decision = state.withLock({ $0.decisions[ticket] }) { return decision }
            if cancellation.isCancelled { return .answer(leave(ticket, .cancelled)) }
            if clock.now() >= deadline { return .answer(leave(ticket, .timedOut)) }
            _ = semaphore.wait(timeout: .now() + .milliseconds(Self.cancellationInterval))
        }
    }

    private func leave(_ ticket: PromptQueue.Ticket, _ outcome: PresenceOutcome) -> PresenceOutcome {
        change { $0.leave(ticket) }
        return outcome
    }

    /// Changes the queue, and wakes the threads that it decides about.
    private func change(_ body: (inout PromptQueue) -> [PromptQueue.Ticket: PromptQueue.Decision]) {
        state.withLock { state in
            for (ticket, decision) in body(&state.queue) {
                guard let semaphore = state.waiting[ticket] else { continue }
                state.decisions[ticket] = decision
                semaphore.signal()
            }
        }
    }

    /// In milliseconds.
    private static let cancellationInterval = 50
    /// In nanoseconds.
    private static let minDisplay: UInt64 = 1_000_000_000
}
