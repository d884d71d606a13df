// SPDX-License-Identifier: Apache-2.0

public import LinuxSystem

/// Something of which each connection may have a number, such as sessions.
public struct BudgetItem: Hashable, Sendable {
    /// The name for messages, in the plural.
    public let name: String
    /// The maximum number for one connection.
    public let max: Int

    public init(_ name: String, max: Int) { (self.name, self.max) = (name, max) }
}

/// What the connections that call objects of this process use, and how often they call.
///
/// The memory of calls that are not answered is limited by ``BusLimits``.
public final class SenderBudgets: Sendable {
    /// How often one connection may call: a number at once, and then a number in each second.
    public struct Rate: Sendable {
        public var burst: Int
        public var perSecond: Int

        public init(burst: Int, perSecond: Int) { (self.burst, self.perSecond) = (burst, perSecond) }
    }

    private struct Account {
        var counts: [BudgetItem: Int] = [:]
        /// The calls that are left, and when they were counted, in nanoseconds.
        var calls: Int
        var time: UInt64
    }

    private let rate: Rate
    private let clock: BootClock
    private let accounts = SystemMutex<[BusName: Account]>([:])

    public init(_ rate: Rate, clock: BootClock = .system) {
        self.rate = rate
        self.clock = clock
    }

    /// Counts one call.
    ///
    /// - Throws: `org.freedesktop.DBus.Error.LimitsExceeded` if the connection calls too often.
    public func spendCall(by sender: BusName) throws(BusFailure) {
        let now = clock.now()
        let isAllowed = accounts.withLock { accounts in
            var account = accounts[sender] ?? Account(calls: rate.burst, time: now)
            let elapsed = now > account.time ? now &- account.time : 0
            let gain = earned(in: elapsed)
            if gain > 0 {
                account.calls = min(account.calls &+ gain, rate.burst)
                account.time = now
            }
            let isAllowed = account.calls > 0
            if isAllowed { account.calls -= 1 }
            accounts[sender] = account
            return isAllowed
        }
        guard isAllowed else { throw .limitsExceeded("more than \(rate.perSecond) calls in a second") }
    }

    /// Adds a thing to those of the connection.
    ///
    /// - Throws: `org.freedesktop.DBus.Error.LimitsExceeded` if it has the maximum number.
    public func acquire(_ item: BudgetItem, by sender: BusName) throws(BusFailure) {
        let now = clock.now()
        let isAcquired = accounts.withLock { accounts in
            var account = accounts[sender] ?? Account(calls: rate.burst, time: now)
            let count = account.counts[item] ?? 0
            guard count < item.max else { return false }
            account.counts[item] = count + 1
            accounts[sender] = account
            return true
        }
        guard isAcquired else { throw .limitsExceeded("more than \(item.max) \(item.name) of one program") }
    }

    /// Removes a thing from those of the connection.
    public func release(_ item: BudgetItem, by sender: BusName) {
        accounts.withLock { accounts in
            guard let count = accounts[sender]?.counts[item] else { return }
            accounts[sender]?.counts[item] = count > 1 ? count - 1 : nil
        }
    }

    /// Forgets a connection that has ended.
    public func forget(_ sender: BusName) { accounts.withLock { $0[sender] = nil } }

    /// The calls that a time in nanoseconds allows, at most the burst.
    private func earned(in elapsed: UInt64) -> Int {
        // A longer time fills the account, and cannot overflow the product.
        guard elapsed < 60_000_000_000 else { return rate.burst }
        let product = elapsed.multipliedReportingOverflow(by: UInt64(clamping: rate.perSecond))
        return product.overflow ? rate.burst : Int(clamping: product.partialValue / 1_000_000_000)
    }
}
