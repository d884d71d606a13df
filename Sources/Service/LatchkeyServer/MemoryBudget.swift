// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// Counts the memory that users and processes have reserved. A reservation above the limit waits
/// until memory is released.
final class MemoryBudget: Sendable {
    /// The process that a reservation is charged to.
    struct MemoryConsumer: Hashable, Sendable {
        var user: UInt32
        var process: Int32
    }

    /// Reserved memory. It is released when the last reference to it ends.
    final class MemoryReservation: Sendable {
        private let budget: MemoryBudget
        private let consumer: MemoryConsumer
        private let amount: Int

        fileprivate init(_ budget: MemoryBudget, _ consumer: MemoryConsumer, _ amount: Int) {
            (self.budget, self.consumer, self.amount) = (budget, consumer, amount)
        }

        deinit { budget.add(-amount, to: consumer) }
    }

    private struct State {
        var users: [UInt32: Int] = [:]
        var processes: [MemoryConsumer: Int] = [:]
    }

    private let limits: ServerLimits
    private let state = SystemMutex(State())

    init(_ limits: ServerLimits) {
        self.limits = limits
    }

    /// Reserves the amount; returns nil if it does not become available before the timeout. A
    /// consumer without reservations gets any amount, so that every allowed request is possible.
    func reserve(_ amount: Int, for consumer: MemoryConsumer) -> MemoryReservation? {
        let deadline = BootClock.system.now() + UInt64(limits.timeout) * 1_000_000_000
        while true {
            let isReserved = state.withLock { state in
                let (byUser, byProcess) = (state.users[consumer.user] ?? 0, state.processes[consumer] ?? 0)
                guard byUser == 0 || byUser + amount <= limits.memoryPerUser,
                    byProcess == 0 || byProcess + amount <= limits.memoryPerProcess
                else { return false }
                Self.add(amount, to: consumer, &state)
                return true
            }
            if isReserved { return MemoryReservation(self, consumer, amount) }
            guard BootClock.system.now() < deadline else { return nil }
            usleep(Self.step)
        }
    }

    fileprivate func add(_ amount: Int, to consumer: MemoryConsumer) {
        state.withLock { Self.add(amount, to: consumer, &$0) }
    }

    private static func add(_ amount: Int, to consumer: MemoryConsumer, _ state: inout State) {
        let (byUser, byProcess) = (
            (state.users[consumer.user] ?? 0) + amount, (state.processes[consumer] ?? 0) + amount
        )
        state.users[consumer.user] = byUser == 0 ? nil : byUser
        state.processes[consumer] = byProcess == 0 ? nil : byProcess
    }

    /// Five milliseconds, in microseconds.
    private static let step: UInt32 = 5000
}
