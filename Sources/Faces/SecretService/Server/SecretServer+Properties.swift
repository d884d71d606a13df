// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import SystemBus

/// The interface `org.freedesktop.DBus.Properties` of every object.
extension SecretServer {
    func answerProperties(_ call: BusMethodCall, _ path: SecretPath) throws(BusFailure) -> [BusValue] {
        switch call.propertyRequest {
        case .get(let interface, let name)?:
            guard Self.property(name, of: interface, at: path) != nil else { throw Self.noProperty(name) }
            // A property that an object has, and that is not known, is that of a locked item.
            guard let value = try values(of: path, call)[name] else { throw BusFailure(.locked, call.path) }
            return [.variant(value.content)]
        case .getAll(let interface)?:
            guard Self.interfaces(named: interface, at: path).isEmpty == false else {
                throw .invalidArguments("No such interface “\(interface.prefix(128))”")
            }
            let values = try values(of: path, call)
            guard case .item = path else { return [values.busValue] }
            return [values.merging(SecretItem.unknownProperties) { known, _ in known }.busValue]
        case .set(let interface, let name, let value)?:
            guard let property = Self.property(name, of: interface, at: path) else { throw Self.noProperty(name) }
            guard property.isWritable, property.type == value.type else {
                throw .invalidArguments("The property “\(name)” cannot be set to a value of the type \(value.type)")
            }
            try set(name, value, path, call)
            return []
        case nil: throw .invalidArguments("expected the name of an interface and of a property")
        }
    }

    /// The interfaces of an object with this name; all for an empty one. Those without properties
    /// count.
    private static func interfaces(named name: String, at path: SecretPath) -> [InterfaceDescription] {
        let all = SecretInterfaces.own(of: path) + SecretInterfaces.ofEveryObject
        return name.isEmpty ? all : all.filter { $0.name == name }
    }

    private static func property(
        _ name: String, of interface: String, at path: SecretPath
    ) -> InterfaceDescription.Property? {
        for candidate in interfaces(named: interface, at: path) {
            if let property = candidate.property(name) { return property }
        }
        return nil
    }

    private static func noProperty(_ name: String) -> BusFailure {
        .invalidArguments("No such property “\(name.prefix(128))”")
    }

    // MARK: Reading

    /// The properties of an object: no two of its interfaces have some.
    private func values(of path: SecretPath, _ call: BusMethodCall) throws(BusFailure) -> [String: BusVariant] {
        switch path {
        case .service:
            let all = try BusFailure.mapErrors(call.path) { () throws(SecretStoreError) in try store.collections() }
            return ["Collections": BusVariant(all.map(\.name.path))]
        case .collection(let selector): return try values(of: try collection(selector, call.path), call)
        case .item(let selector, let item):
            let reference = ItemReference(try collection(selector, call.path), item)
            let reader = reader(call.sender)
            let (found, isLocked) = try BusFailure.mapErrors(call.path) {
                () throws(SecretStoreError) -> (SecretItem, Bool) in
                try reading { () throws(SecretStoreError) in
                    let found = try self.item(reference)
                    return (found, found.isLocked ? true : try consent.isNeeded(for: found, by: reader))
                }
            }
            return found.properties(isLocked: isLocked)
        case .folder, .session, .prompt: return [:]
        }
    }

    private func values(of name: CollectionName, _ call: BusMethodCall) throws(BusFailure) -> [String: BusVariant] {
        let (found, items) = try BusFailure.mapErrors(call.path) {
            () throws(SecretStoreError) -> (SecretCollection, [SecretItemID]) in
            // The list of items is long; it is read only where it is asked for.
            let found = try store.collection(name)
            return (found, try call.isAboutItems ? store.items(in: name) : [])
        }
        return [
            "Items": BusVariant(items.map { ItemReference(name, $0) }.paths), "Label": BusVariant(found.label),
            "Locked": BusVariant(found.isLocked), "Created": BusVariant(found.created),
            "Modified": BusVariant(found.modified),
        ]
    }

    // MARK: Writing

    private func set(
        _ name: String, _ value: BusValue, _ path: SecretPath, _ call: BusMethodCall
    ) throws(BusFailure) {
        switch path {
        case .collection(let selector):
            guard case .string(let text) = value else { throw Self.noProperty(name) }
            try setLabel(text, of: try collection(selector, call.path), call)
        case .item(let selector, let item):
            let reference = ItemReference(try collection(selector, call.path), item)
            try set(name, value, of: reference, call)
        case .service, .folder, .session, .prompt: throw Self.noProperty(name)
        }
    }

    private func setLabel(_ text: String, of name: CollectionName, _ call: BusMethodCall) throws(BusFailure) {
        let label = try ItemProperties.checked(label: text)
        let changed = try BusFailure.mapErrors(call.path) { () throws(SecretStoreError) -> SecretCollection in
            try store.setLabel(label, of: name)
            return try store.collection(name)
        }
        signals.collectionChanged(changed)
    }

    private func set(
        _ name: String, _ value: BusValue, of item: ItemReference, _ call: BusMethodCall
    ) throws(BusFailure) {
        switch (name, value) {
        case ("Label", .string(let text)):
            let label = try ItemProperties.checked(label: text)
            try update(item, SecretItemUpdate(label: label), ["Label": BusVariant(label)], call)
        case ("Attributes", _):
            guard let read = try SecretAttributes(value) else { throw Self.noProperty(name) }
            try setAttributes(try ItemProperties.completed(read, nil), of: item, call)
        case ("Type", .string(let schema)):
            let present = try BusFailure.mapErrors(call.path) { () throws(SecretStoreError) -> SecretAttributes in
                guard let attributes = try store.item(item).attributes else { throw .locked }
                return try attributes.setting(SecretAttributes.schemaName, to: schema)
            }
            try setAttributes(present, of: item, call)
        default: throw Self.noProperty(name)
        }
    }

    private func setAttributes(
        _ attributes: SecretAttributes, of item: ItemReference, _ call: BusMethodCall
    ) throws(BusFailure) {
        let changed = ["Attributes": BusVariant(attributes.busValue), "Type": BusVariant(attributes.schema)]
        try update(item, SecretItemUpdate(attributes: attributes), changed, call)
    }
}

extension BusMethodCall {
    /// Whether the answer has the list of items of a collection. The list may be long.
    var isAboutItems: Bool { member == "GetAll" || propertyRequest?.propertyName == "Items" }
}

extension PropertyRequest {
    /// The property that is read or set; nil for all.
    fileprivate var propertyName: String? {
        switch self {
        case .get(_, let name), .set(_, let name, _): name
        case .getAll: nil
        }
    }
}
