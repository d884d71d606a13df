// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyService
internal import LinuxSystem
internal import SystemBus

/// The methods of `org.freedesktop.Secret.Collection`.
extension SecretServer {
    func performCollection(
        _ method: String, _ arguments: inout CallArguments, _ name: CollectionName, _ call: BusMethodCall
    ) throws(BusFailure) -> [BusValue] {
        switch method {
        case "CreateItem":
            let properties = try ItemProperties(try arguments.nextValue())
            let secret = try receive(try arguments.nextSecret(), call)
            return try createItem(properties, secret, replacing: try arguments.next(), in: name, call)
        default: throw .unknownMethod("There is no method “\(method)”")
        }
    }

    /// The methods about any number of items.
    ///
    /// - Returns: nil for another method.
    func performInTurns(
        _ method: String, _ arguments: inout CallArguments, _ name: CollectionName, _ call: BusMethodCall
    ) throws(BusFailure) -> Answer? {
        switch method {
        case "Delete":
            let step = FairCalls.Step(call) { [self] () throws(BusFailure) in
                try BusFailure.mapErrors(call.path) { () throws(SecretStoreError) -> Void in
                    try store.deleteCollection(name)
                }
                known.forget(name)
                announceCollections()
                return [.objectPath(.absent)]
            }
            return .inTurns(step.kept)
        case "SearchItems":
            let attributes = try arguments.nextAttributes()
            return .read { [self] () throws(BusFailure) in
                [try search(attributes, in: name).map(\.reference).paths.busValue]
            }
        default: return nil
        }
    }

    private func createItem(
        _ properties: ItemProperties, _ secret: SecretValue, replacing: Bool, in collection: CollectionName,
        _ call: BusMethodCall
    ) throws(BusFailure) -> [BusValue] {
        let item = NewSecretItem(
            label: properties.label, attributes: properties.attributes, secret: secret,
            creator: reader(call.sender).path)
        let added = try BusFailure.mapErrors(call.path) { () throws(SecretStoreError) in
            try store.add(item, replacing: replacing, to: collection)
        }
        if added.isReplacement {
            let changed = [
                "Label": BusVariant(item.label), "Attributes": BusVariant(item.attributes.busValue),
                "Type": BusVariant(item.attributes.schema),
            ]
            reread(added.reference)
            signals.itemChanged(added.reference, changed)
        } else {
            let now = WallClock.seconds
            let metadata = SecretItemMetadata(
                label: item.label, attributes: item.attributes, created: now, modified: now)
            known.remember([SecretItem(added.reference, metadata, creators: [item.creator].compactMap { $0 })])
            signals.itemCreated(added.reference)
        }
        return [.objectPath(added.reference.path), .objectPath(.absent)]
    }
}

/// The properties of a new collection.
struct CollectionProperties: Sendable {
    let label: String

    /// - Throws: `InvalidArgs` for an unknown property, or one of another type.
    init(_ properties: [String: BusVariant]) throws(BusFailure) {
        var label = ""
        for entry in properties {
            guard entry.key == "org.freedesktop.Secret.Collection.Label",
                let text = entry.value.content(as: String.self)
            else { throw .invalidArguments("The property “\(entry.key.prefix(128))” is unknown or has another type") }
            label = text
        }
        self.label = try ItemProperties.checked(label: label)
    }
}

/// The properties of a new item.
struct ItemProperties: Sendable {
    let label: String
    let attributes: SecretAttributes

    /// Reads a value of the type `a{sv}`.
    ///
    /// - Throws: `InvalidArgs` for an unknown property, or one of another type.
    init(_ value: BusValue) throws(BusFailure) {
        guard case .dictionary(.string, .variant, let entries) = value else {
            throw .invalidArguments("expected properties")
        }
        var (label, schema) = ("", String?.none)
        var attributes = SecretAttributes.none
        for entry in entries {
            switch (entry.key, entry.value) {
            case (.string(Self.prefix + "Label"), .variant(.string(let text))): label = text
            case (.string(Self.prefix + "Type"), .variant(.string(let text))): schema = text
            case (.string(Self.prefix + "Attributes"), .variant(let content)):
                guard let read = try SecretAttributes(content) else {
                    throw .invalidArguments("The attributes are not of the type a{ss}")
                }
                attributes = read
            default: throw .invalidArguments("A property of the item is unknown or has another type")
            }
        }
        self.label = try Self.checked(label: label)
        self.attributes = try Self.completed(attributes, schema)
    }

    /// An item without a schema gets the generic one, as with gnome-keyring.
    static func completed(
        _ attributes: SecretAttributes, _ schema: String?
    ) throws(BusFailure) -> SecretAttributes {
        guard attributes[SecretAttributes.schemaName] == nil else { return attributes }
        return try BusFailure.mapErrors(SecretPath.root) { () throws(SecretStoreError) in
            try attributes.setting(SecretAttributes.schemaName, to: schema ?? SecretAttributes.genericSchema)
        }
    }

    static func checked(label: String) throws(BusFailure) -> String {
        guard label.utf8.count <= KeychainCollection.maxLabelLength else {
            throw .limitsExceeded("A label has at most \(KeychainCollection.maxLabelLength) bytes")
        }
        return label
    }

    private static let prefix = "org.freedesktop.Secret.Item."
}
