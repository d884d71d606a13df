// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem
internal import Synchronization

/// Counts the memory that is lent to users and to processes, and lets whoever asks for more wait until some comes back.
final class MemoryBudget: Sendable {
    /// Who borrows.
    struct Borrower: Hashable, Sendable {
        var user: UInt32
        var process: Int32
    }

    /// Gives the memory back when it goes.
    final class Loan: Sendable {
        private let budget: MemoryBudget
        private let borrower: Borrower
        private let amount: Int

        fileprivate init(_ budget: MemoryBudget, _ borrower: Borrower, _ amount: Int) {
            (self.budget, self.borrower, self.amount) = (budget, borrower, amount)
        }

        deinit { budget.add(-amount, to: borrower) }
    }

    private struct State {
        var users: [UInt32: Int] = [:]
        var processes: [Borrower: Int] = [:]
    }

    private let limits: ServerLimits
    private let state = Mutex(State())

    init(_ limits: ServerLimits) {
        self.limits = limits
    }

    /// Lends the amount; nil where it is not to be had in time. Whoever has borrowed nothing gets any amount: what is allowed at all has to
    /// be possible.
    func borrow(_ amount: Int, for borrower: Borrower) -> Loan? {
        let deadline = BootClock.system.now() + UInt64(limits.patience) * 1_000_000_000
        while true {
            let isLent = state.withLock { state in
                let (byUser, byProcess) = (state.users[borrower.user] ?? 0, state.processes[borrower] ?? 0)
                guard byUser == 0 || byUser + amount <= limits.memoryPerUser,
                    byProcess == 0 || byProcess + amount <= limits.memoryPerProcess
                else { return false }
                Self.add(amount, to: borrower, &state)
                return true
            }
            if isLent { return Loan(self, borrower, amount) }
            guard BootClock.system.now() < deadline else { return nil }
            usleep(Self.step)
        }
    }

    fileprivate func add(_ amount: Int, to borrower: Borrower) {
        state.withLock { Self.add(amount, to: borrower, &$0) }
    }

    private static func add(_ amount: Int, to borrower: Borrower, _ state: inout State) {
        let (byUser, byProcess) = ((state.users[borrower.user] ?? 0) + amount, (state.processes[borrower] ?? 0) + amount)
        state.users[borrower.user] = byUser == 0 ? nil : byUser
        state.processes[borrower] = byProcess == 0 ? nil : byProcess
    }

    /// Five milliseconds, in microseconds.
    private static let step: UInt32 = 5000
}
