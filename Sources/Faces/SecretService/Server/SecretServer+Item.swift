// SPDX-License-Identifier: Apache-2.0

internal import SystemBus

/// The methods of `org.freedesktop.Secret.Item`.
extension SecretServer {
    func performItem(
        _ method: String, _ arguments: inout CallArguments, _ item: ItemReference, _ call: BusMethodCall
    ) throws(BusFailure) -> [BusValue] {
        switch method {
        case "Delete":
            try BusFailure.mapErrors(call.path) { () throws(SecretStoreError) in try store.deleteItem(item) }
            known.forget(item)
            signals.itemDeleted(item)
            return [.objectPath(.absent)]
        case "GetSecret":
            let session = try arguments.next(ObjectPath.self)
            let cipher = try sessions.cipher(at: session, of: call.sender)
            let reader = reader(call.sender)
            let secret = try BusFailure.mapErrors(call.path) { () throws(SecretStoreError) -> SecretValue? in
                try reading { () throws(SecretStoreError) in try self.secret(of: item, reader) }
            }
            guard let secret else { throw .needsConsent }
            return [try Self.transfer(secret, session, cipher)]
        case "SetSecret":
            let secret = try receive(try arguments.nextSecret(), call)
            try update(item, SecretItemUpdate(secret: secret), [:], call)
            return []
        default: throw .unknownMethod("There is no method “\(method)”")
        }
    }

    /// Changes an item, and announces it.
    func update(
        _ item: ItemReference, _ update: SecretItemUpdate, _ changed: [String: BusVariant], _ call: BusMethodCall
    ) throws(BusFailure) {
        try BusFailure.mapErrors(call.path) { () throws(SecretStoreError) in try store.update(item, with: update) }
        reread(item)
        signals.itemChanged(item, changed)
    }
}
