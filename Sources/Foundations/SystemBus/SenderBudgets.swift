// SPDX-License-Identifier: Apache-2.0

public import LinuxSystem

/// A resource, such as sessions, with a maximum number for each process.
public struct BudgetItem: Hashable, Sendable {
    /// The name for messages, in the plural.
    public let name: String
    /// The maximum number for all connections of one process.
    public let max: Int

    public init(_ name: String, max: Int) { (self.name, self.max) = (name, max) }
}

/// The resources and the call rates of the processes that call objects of this process.
///
/// The memory of calls that are not answered is limited by ``BusLimits``.
public final class SenderBudgets: Sendable {
    /// How often one process may call: a number at once, and then a number in each second.
    public struct Rate: Sendable {
        public var burst: Int
        public var perSecond: Int

        public init(burst: Int, perSecond: Int) { (self.burst, self.perSecond) = (burst, perSecond) }
    }

    private struct Account {
        /// The resources of each connection.
        var counts: [BusName: [BudgetItem: Int]] = [:]
        /// The calls that are left, and when they were counted, in nanoseconds.
        var calls: Int
        var time: UInt64

        func count(_ item: BudgetItem) -> Int { counts.values.reduce(0) { $0 + ($1[item] ?? 0) } }
    }

    private struct State {
        var accounts: [CallAccount: Account] = [:]
        var owners: [BusName: CallAccount] = [:]

        /// Returns the account of a connection. From now on, the connection belongs to this account.
        mutating func account(of caller: BusCaller, _ fresh: Account) -> (CallAccount, Account) {
            let key = owners[caller.connection] ?? caller.account
            var account = accounts[key] ?? fresh
            if account.counts[caller.connection] == nil { account.counts[caller.connection] = [:] }
            owners[caller.connection] = key
            return (key, account)
        }
    }

    private let rate: Rate
    private let clock: BootClock
    private let state = SystemMutex(State())

    public init(_ rate: Rate, clock: BootClock = .system) {
        self.rate = rate
        self.clock = clock
    }

    /// Counts one call.
    ///
    /// - Throws: `org.freedesktop.DBus.Error.LimitsExceeded` if the process calls too often.
    public func spendCall(by caller: BusCaller) throws(BusFailure) {
        let now = clock.now()
        let isAllowed = state.withLock { state in
            let (key, known) = state.account(of: caller, Account(calls: rate.burst, time: now))
            var account = known
            let elapsed = now > account.time ? now &- account.time : 0
            let gain = earned(in: elapsed)
            if gain > 0 {
                account.calls = min(account.calls &+ gain, rate.burst)
                account.time = now
            }
            let isAllowed = account.calls > 0
            if isAllowed { account.calls -= 1 }
            state.accounts[key] = account
            return isAllowed
        }
        guard isAllowed else { throw .limitsExceeded("more than \(rate.perSecond) calls in a second") }
    }

    /// Adds things to those of the process.
    ///
    /// - Throws: `org.freedesktop.DBus.Error.LimitsExceeded` if it would have more than the maximum number.
    public func acquire(_ item: BudgetItem, _ count: Int = 1, by caller: BusCaller) throws(BusFailure) {
        let now = clock.now()
        let isAcquired = state.withLock { state in
            let (key, known) = state.account(of: caller, Account(calls: rate.burst, time: now))
            var account = known
            let isAcquired = count <= item.max - account.count(item)
            if isAcquired { account.counts[caller.connection]?[item, default: 0] += count }
            state.accounts[key] = account
            return isAcquired
        }
        guard isAcquired else { throw .limitsExceeded("more than \(item.max) \(item.name) of one program") }
    }

    /// Removes things from those of the connection.
    public func release(_ item: BudgetItem, _ count: Int = 1, by caller: BusCaller) {
        state.withLock { state in
            guard let key = state.owners[caller.connection],
                let held = state.accounts[key]?.counts[caller.connection]?[item]
            else { return }
            state.accounts[key]?.counts[caller.connection]?[item] = held > count ? held - count : nil
        }
    }

    /// Forgets a connection that has ended, and its process with the last one.
    public func forget(_ connection: BusName) {
        state.withLock { state in
            guard let key = state.owners.removeValue(forKey: connection) else { return }
            state.accounts[key]?.counts[connection] = nil
            if state.accounts[key]?.counts.isEmpty == true { state.accounts[key] = nil }
        }
    }

    /// The calls that a time in nanoseconds allows, at most the burst.
    private func earned(in elapsed: UInt64) -> Int {
        // A longer time fills the account, and cannot overflow the product.
        guard elapsed < 60_000_000_000 else { return rate.burst }
        let product = elapsed.multipliedReportingOverflow(by: UInt64(clamping: rate.perSecond))
        return product.overflow ? rate.burst : Int(clamping: product.partialValue / 1_000_000_000)
    }
}
