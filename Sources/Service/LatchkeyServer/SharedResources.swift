// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The per-user resources of a server, shared with the servers of its sessions: a user has one share, regardless of the
/// number of sessions.
final class SharedResources: Sendable {
    let budget: MemoryBudget
    /// Large messages that are being decoded, of one user and of all users. One message can take half a gibibyte, a
    /// quarter of the limit in the daemon's unit.
    let decodings = ConcurrencyLimiter(1)
    let allDecodings = ConcurrencyLimiter(1)
    /// Searches for one item with its data, until their results are sent.
    let searches = ConcurrencyLimiter(16)
    /// Searches for more than one item, until their results are sent.
    let multiItemSearches = ConcurrencyLimiter(2)
    /// Backups and restores in progress.
    let spools = ConcurrencyLimiter(1)
    /// Files that are being stored.
    let fileStores = ConcurrencyLimiter(4)
    /// Reads of the audit log; each has all its files open.
    let logReadings = ConcurrencyLimiter(2)
    /// Operations with keys of the keychain: each takes some hundredths of a second with a large
    /// RSA key.
    let keyUses = ConcurrencyLimiter(4)
    /// Connections that wait for changes of the lock or of the items.
    let watchers: ConcurrencyLimiter
    /// Operations that take longer than that.
    let slowWork: SlowWorkPool
    /// nil if the daemon asks persons itself.
    let agents: AgentDesk?
    /// Connections of all users, including those that are closing.
    let connections = Atomic(0)

    init(_ limits: ServerLimits, agents: AgentDesk? = nil) {
        self.agents = agents
        budget = MemoryBudget(limits)
        watchers = ConcurrencyLimiter(limits.watchersPerUser)
        slowWork = SlowWorkPool(limits)
    }
}
