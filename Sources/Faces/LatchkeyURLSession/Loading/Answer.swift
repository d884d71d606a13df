// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LinuxSystem

/// Waits for one value from a completion handler: later calls of the handler are ignored, and the
/// wait ends with a substitute when the time is over, or the task is cancelled.
enum Answer {
    /// - Parameters:
    ///   - limit: in seconds.
    ///   - late: the value if there is no answer within the limit.
    ///   - cancelled: the value if the task is cancelled.
    ///   - ask: receives the completion handler. Any thread may call the handler.
    static func wait<Value: Sendable>(
        limit: Double, late: Value, cancelled: Value, _ ask: (@escaping @Sendable (Value) -> Void) -> Void
    ) async -> Value {
        let once = Once<Value>()
        let deadline = Deadlines.shared.after(limit) { once.resume(late) }
        defer { deadline.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                once.set(continuation)
                ask { once.resume($0) }
            }
        } onCancel: {
            once.resume(cancelled)
        }
    }
}

/// A continuation that is resumed once, by the first of several threads.
private final class Once<Value: Sendable>: Sendable {
    private enum State {
        case waiting(CheckedContinuation<Value, Never>?)
        case answered(Value)
        case ended
    }

    private let state = SystemMutex<State>(.waiting(nil))

    func set(_ continuation: CheckedContinuation<Value, Never>) {
        let value: Value? = state.withLock { state in
            if case .answered(let value) = state {
                state = .ended
                return value
            }
            state = .waiting(continuation)
            return nil
        }
        if let value { continuation.resume(returning: value) }
    }

    func resume(_ value: Value) {
        let continuation: CheckedContinuation<Value, Never>? = state.withLock { state in
            guard case .waiting(let continuation) = state else { return nil }
            state = continuation == nil ? .answered(value) : .ended
            return continuation
        }
        continuation?.resume(returning: value)
    }
}
