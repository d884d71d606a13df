// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem
internal import Synchronization

/// Counts the memory that is lent to users and to processes, and lets whoever asks for more wait until some comes back.
final class MemoryBudget: Sendable {
    /// Who borrows.
    struct MemoryConsumer: Hashable, Sendable {
        var user: UInt32
        var process: Int32
    }

    /// Gives the memory back when it goes.
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
    private let state = Mutex(State())

    init(_ limits: ServerLimits) {
        self.limits = limits
    }

    /// Lends the amount; nil where it is not to be had in time. Whoever has borrowed nothing gets any amount: what is allowed at all has to
    /// be possible.
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
