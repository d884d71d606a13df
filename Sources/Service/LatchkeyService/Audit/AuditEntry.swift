// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// One decision of the keychain: who asked for what, and what came of it. Never a secret, and of an item no attribute but its group.
public struct AuditEntry: Sendable {
    public var caller: CallerIdentity
    /// `add`, `copy`, `unlock` …
    public var operation: String
    public var itemClass: ItemClass?
    /// The group that was named, or that the items were in.
    public var group: AccessGroup?
    /// How many items it was about.
    public var count: Int
    public var status: OSStatusCode

    public init(
        caller: CallerIdentity, operation: String, itemClass: ItemClass? = nil, group: AccessGroup? = nil, count: Int = 0,
        status: OSStatusCode = .success
    ) {
        self.caller = caller
        self.operation = operation
        self.itemClass = itemClass
        self.group = group
        self.count = count
        self.status = status
    }
}
