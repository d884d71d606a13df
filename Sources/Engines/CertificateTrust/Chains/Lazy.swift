// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// A value that is computed once, when it is first read.
final class Lazy<Value: Sendable>: Sendable {
    private enum State {
        case pending(@Sendable () -> Value)
        case computed(Value)
    }

    private let state: SystemMutex<State>

    init(_ compute: @escaping @Sendable () -> Value) { state = SystemMutex(.pending(compute)) }

    init(value: Value) { state = SystemMutex(.computed(value)) }

    /// The value. Other threads that read it wait until it is computed.
    var value: Value {
        state.withLock { state in
            switch state {
            case .computed(let value): return value
            case .pending(let compute):
                let value = compute()
                state = .computed(value)
                return value
            }
        }
    }
}
