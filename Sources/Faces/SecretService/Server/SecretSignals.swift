// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import Logging
internal import SystemBus

/// The signals of the Secret Service.
struct SecretSignals: Sendable {
    let bus: BusConnection
    let log: Logger

    // MARK: Of the service

    func collectionCreated(_ name: CollectionName, all: [CollectionName]) {
        emit(from: SecretPath.root, SecretInterfaces.service, "CollectionCreated", [.objectPath(name.path)])
        collectionsChanged(all)
    }

    func collectionDeleted(_ name: CollectionName, all: [CollectionName]) {
        emit(from: SecretPath.root, SecretInterfaces.service, "CollectionDeleted", [.objectPath(name.path)])
        collectionsChanged(all)
    }

    func collectionChanged(_ name: CollectionName) {
        emit(from: SecretPath.root, SecretInterfaces.service, "CollectionChanged", [.objectPath(name.path)])
    }

    private func collectionsChanged(_ all: [CollectionName]) {
        propertiesChanged(
            SecretPath.root, SecretInterfaces.service, ["Collections": BusVariant(all.map(\.path))])
    }

    // MARK: Of collections

    // No property is invalidated: libsecret reads the list that it has when an item is created or deleted,
    // and ends its program if the list was invalidated. The new list follows with those of other changes.

    func itemCreated(_ item: ItemReference) { itemsChanged(item, "ItemCreated") }

    func itemDeleted(_ item: ItemReference) { itemsChanged(item, "ItemDeleted") }

    /// - Parameter properties: the new values of an item.
    func itemChanged(_ item: ItemReference, _ properties: [String: BusVariant]) {
        emit(from: item.collection.path, SecretInterfaces.collection, "ItemChanged", [.objectPath(item.path)])
        propertiesChanged(item.path, SecretInterfaces.item, properties)
    }

    /// Announces that a program may read an item now.
    func itemUnlocked(_ item: SecretItem, to reader: BusName) {
        propertiesChanged(item.reference.path, SecretInterfaces.item, item.properties(isLocked: false), to: reader)
    }

    private func itemsChanged(_ item: ItemReference, _ member: String) {
        emit(from: item.collection.path, SecretInterfaces.collection, member, [.objectPath(item.path)])
    }

    /// - Parameter items: all items of the collection.
    func itemsChanged(_ name: CollectionName, _ items: [ObjectPath]) {
        propertiesChanged(name.path, SecretInterfaces.collection, ["Items": BusVariant(items)])
    }

    func collectionChanged(_ collection: SecretCollection) {
        collectionChanged(collection.name)
        propertiesChanged(
            collection.name.path, SecretInterfaces.collection,
            [
                "Label": BusVariant(collection.label), "Locked": BusVariant(collection.isLocked),
                "Modified": BusVariant(collection.modified),
            ])
    }

    // MARK: Of prompts

    /// - Parameter owner: the only receiver.
    func completed(_ prompt: PromptNumber, _ result: PromptResult, to owner: BusName) {
        emit(
            from: prompt.path, SecretInterfaces.prompt, "Completed",
            [.boolean(result.isDismissed), .variant(result.value)], to: owner)
    }

    // MARK: The bus

    private func propertiesChanged(
        _ path: ObjectPath, _ interface: InterfaceDescription, _ changed: [String: BusVariant],
        to destination: BusName? = nil
    ) {
        emit(
            from: path, SecretInterfaces.properties, "PropertiesChanged",
            [.string(interface.name), changed.busValue, [String]().busValue], to: destination)
    }

    private func emit(
        from path: ObjectPath, _ interface: InterfaceDescription, _ member: String, _ arguments: [BusValue],
        to destination: BusName? = nil
    ) {
        do throws(BusError) {
            try bus.emit(from: path, interface.name, member, arguments, to: destination)
        } catch {
            // The bus has ended, and with it all clients.
            log.debug("a signal was not sent", metadata: ["signal": "\(member)", "reason": "\(error)"])
        }
    }
}
