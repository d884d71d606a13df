// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Sends every new state of the lock, until the client disconnects.
package struct WatchLock: KeychainOperation {
    package init() {}

    package static let traits: OperationTraits = .worksWithoutLog

    package var audit: AuditDetails? { nil }

    package func run(in context: some OperationContext) throws(KeychainError) -> Done {
        let permit = try context.watcherPermit()
        defer { withExtendedLifetime(permit) {} }
        let service = try context.service
        try context.unlockAutomatically()
        let states = try BoundedMailbox<LockState>()
        let observer = service.addLockObserver { states.put($0) }
        defer { service.removeLockObserver(observer) }
        var isConnected = context.send(try service.lock.status().state)
        while isConnected, context.awaits(states.arrived) {
            for state in states.take() where isConnected { isConnected = context.send(state) }
        }
        return Done()
    }
}

extension OperationContext {
    /// Returns the permit of a connection that waits for changes.
    func watcherPermit() throws(KeychainError) -> OperationPermit {
        guard let permit = acquire(.watcher) else {
            throw KeychainError(
                .notAvailable,
                "this user has \(limit(of: .watcher)) watchers of the lock and of changes, the maximum")
        }
        return permit
    }
}

extension LockState: ResponseContent {
    package var moreFollows: Bool { true }
}

// MARK: Coding

extension WatchLock {
    init(_ wire: WireNothing) throws(WireError) { try requireKnown(wire) }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation { .watchLock(WireNothing()) }
}

extension LockState {
    init(wire number: UInt32) throws(WireError) {
        switch number {
        case 1: self = .beforeFirstUnlock
        case 2: self = .unlocked
        case 3: self = .locked
        default: throw .malformed("unknown lock state \(number)")
        }
    }

    var wire: UInt32 {
        switch self {
        case .beforeFirstUnlock: 1
        case .unlocked: 2
        case .locked: 3
        }
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content { .lockState(wire) }
}
