// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import KeychainModel
internal import LinuxSystem
internal import Presence

/// Displays that a security key waits for a touch, as long as it waits. The person can cancel there;
/// otherwise the prompt is only information, and the touch is what counts.
final class TouchPrompt: Sendable {
    private let cancellation = Cancellation()
    private let wasCancelled = SystemMutex(false)
    private let end = DispatchSemaphore(value: 0)

    /// Displays the question on another thread; nothing is displayed where nothing can be.
    init(_ question: PresenceRequest, with methods: PresenceMethods, until deadline: UInt64) {
        guard methods.unavailability(of: question.factor, for: question.user, at: question.place) == nil,
            BackgroundThread.run({ self.display(question, methods, deadline) })
        else {
            end.signal()
            return
        }
    }

    /// Whether the person has cancelled.
    var isCancelled: Bool { wasCancelled.withLock { $0 } }

    /// Removes the prompt, and waits until it has disappeared.
    func close() {
        cancellation.request()
        end.wait()
    }

    private func display(_ question: PresenceRequest, _ methods: PresenceMethods, _ deadline: UInt64) {
        defer { end.signal() }
        switch methods.ask(question, until: deadline, cancellation: cancellation) {
        case .denied: wasCancelled.withLock { $0 = true }
        // Also the result of `close`.
        case .cancelled: if !cancellation.isCancelled { wasCancelled.withLock { $0 = true } }
        case .confirmed, .recognized, .fallback, .timedOut, .unavailable: break
        }
    }
}
