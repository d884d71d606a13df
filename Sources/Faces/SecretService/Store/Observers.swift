// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The observers of a store.
final class Observers: Sendable {
    typealias Body = @Sendable (SecretStoreChange) -> Void

    private struct State {
        var bodies: [Int: Body] = [:]
        var next = 0
    }

    private let state = SystemMutex(State())

    /// Adds an observer. It is removed with the last reference to the returned object.
    func add(_ body: @escaping Body) -> any Sendable {
        let number = state.withLock { state in
            defer { state.next += 1 }
            state.bodies[state.next] = body
            return state.next
        }
        return Removal { [weak self] in self?.remove(number) }
    }

    func report(_ change: SecretStoreChange) {
        for body in state.withLock({ Array($0.bodies.values) }) { body(change) }
    }

    private func remove(_ number: Int) { state.withLock { $0.bodies[number] = nil } }
}

/// Calls a function with the end of its last reference.
final class Removal: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    deinit { body() }
}
