// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Sends a notice after each change of the keychain, until the client disconnects or the keychain is
/// closed. The first notice is sent when all later changes will be seen.
package struct WatchChanges: KeychainOperation {
    package init() {}

    package static let traits: OperationTraits = .worksWithoutLog

    package var audit: AuditDetails? { nil }

    package func run(in context: some OperationContext) throws(KeychainError) -> Done {
        let permit = try context.watcherPermit()
        defer { withExtendedLifetime(permit) {} }
        let keychain = try context.changes
        let events = try BoundedMailbox<KeychainChangeEvent>()
        let observer = try keychain.addChangeObserver { events.put($0) }
        defer { keychain.removeChangeObserver(observer) }
        var isConnected = context.send(ChangeNotice())
        while isConnected, context.awaits(events.arrived) {
            let arrived = events.take()
            // Several changes are one notice.
            if !arrived.isEmpty { isConnected = context.send(ChangeNotice()) }
            if arrived.contains(.ended) { break }
        }
        return Done()
    }
}

/// The keychain has changed since the last notice.
package struct ChangeNotice: ResponseContent, Equatable {
    package init() {}

    package var moreFollows: Bool { true }
}

// MARK: Coding

extension WatchChanges {
    init(_ wire: WireNothing) throws(WireError) { try requireKnown(wire) }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        .watchChanges(WireNothing())
    }
}

extension ChangeNotice {
    init(_ wire: WireNothing) throws(WireError) { try requireKnown(wire) }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content { .changed(WireNothing()) }
}
