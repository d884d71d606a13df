// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// What a server lends to users, and shares with the servers of their sessions: a user has one share, through however many sessions it is asked for.
final class SharedResources: Sendable {
    let budget: MemoryBudget
    /// Searches for one item with its data, whose results are not sent yet.
    let searches = ConcurrencyLimiter(16)
    /// Searches for more than one item, whose results are not sent yet.
    let multiItemSearches = ConcurrencyLimiter(2)
    /// Backups on their way.
    let spools = ConcurrencyLimiter(1)
    /// Readings of the audit log, each with every file of it open.
    let logReadings = ConcurrencyLimiter(2)
    /// Operations of keys of the keychain: with a large RSA key each takes some hundredths of a second.
    let keyUses = ConcurrencyLimiter(4)
    /// Connections that wait for changes of the lock.
    let watchers: ConcurrencyLimiter
    /// What takes longer than that.
    let slowWork: SlowWorkPool
    /// Connections of all users, those included that are leaving.
    let connections = Atomic(0)

    init(_ limits: ServerLimits) {
        budget = MemoryBudget(limits)
        watchers = ConcurrencyLimiter(limits.watchersPerUser)
        slowWork = SlowWorkPool(limits)
    }
}
