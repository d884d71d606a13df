// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
public import LinuxSystem

/// A question that is displayed while a sensor or a security key of this process waits for the
/// person.
///
/// The display names the program behind the question, and its buttons end the wait. Only the answer of the sensor or of
/// the key counts.
public final class SensorPrompt: Sendable {
    private struct State {
        var request: PresenceRequest
        /// Ends the display of the request.
        var display = Cancellation()
        var isClosed = false
        var answer: PresenceOutcome?
    }

    /// Requested when the answer of the sensor is no longer needed.
    public let cancellation: Cancellation
    private let state: SystemMutex<State>
    private let end = DispatchSemaphore(value: 0)

    /// Displays the question on another thread.
    ///
    /// - Parameters:
    ///   - cancellation: ends the question.
    ///   - display: displays a question, and returns soon after its cancellation.
    init(
        _ request: PresenceRequest, cancellation: Cancellation,
        display: @escaping @Sendable (PresenceRequest, Cancellation) -> PresenceOutcome
    ) {
        self.cancellation = Cancellation(within: cancellation)
        state = SystemMutex(State(request: request))
        guard !BackgroundThread.run({ self.run(display) }) else { return }
        finish(.unavailable(.noMethod(request.factor)))
        end.signal()
    }

    /// Displays the question again, with the reason that the last answer was not accepted.
    public func show(_ failure: PresenceRequest.PreviousFailure) {
        state.withLock { state in
            state.request.previousFailure = failure
            state.display.request()
        }
    }

    /// Removes the display, waits until it has disappeared, and returns the person's choice there; nil if there was no
    /// choice.
    func close() -> PresenceOutcome? {
        state.withLock { state in
            state.isClosed = true
            state.display.request()
        }
        end.wait()
        return state.withLock { $0.answer }
    }

    private func run(_ display: (PresenceRequest, Cancellation) -> PresenceOutcome) {
        defer { end.signal() }
        while let (request, ending) = nextDisplay() {
            let outcome = display(request, ending)
            // Also the result of `show` and `close`.
            guard !ending.isCancelled else { continue }
            return finish(outcome)
        }
    }

    private func nextDisplay() -> (PresenceRequest, Cancellation)? {
        state.withLock { state in
            guard !state.isClosed, !cancellation.isCancelled else { return nil }
            state.display = Cancellation(within: cancellation)
            return (state.request, state.display)
        }
    }

    /// The person has ended the question, or it cannot be displayed.
    private func finish(_ outcome: PresenceOutcome) {
        let answer: PresenceOutcome =
            switch outcome {
            case .fallback, .timedOut, .unavailable: outcome
            // Only the sensor or the key confirms.
            case .denied, .cancelled, .confirmed, .recognized: .cancelled
            }
        state.withLock { $0.answer = answer }
        cancellation.request()
    }
}
