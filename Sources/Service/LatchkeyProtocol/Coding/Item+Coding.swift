// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
package import KeychainModel
internal import SecretMemory

// MARK: Attributes

extension WireAttribute {
    init(_ attribute: ItemAttribute, _ value: AttributeValue) {
        self.init()
        code = attribute.code
        switch value {
        case .string(let text): self.text = text
        case .data(let bytes): data = Data(bytes)
        case .number(let number): self.number = number
        case .date(let seconds): date = seconds
        }
    }

    func decode() throws(WireError) -> (ItemAttribute, AttributeValue) {
        try requireKnown(self)
        let attribute = try ItemAttribute(wireCode: code)
        switch value {
        case .text(let text): return (attribute, .string(text))
        case .data(let bytes): return (attribute, .data(Array(bytes)))
        case .number(let number): return (attribute, .number(number))
        case .date(let seconds):
            guard seconds.isFinite else { throw .malformed("a date is not finite") }
            return (attribute, .date(seconds))
        case nil: throw .malformed("the attribute '\(attribute.rawValue)' has no value")
        }
    }
}

extension ItemAttribute {
    init(wireCode code: UInt32) throws(WireError) {
        guard let attribute = ItemAttribute(code: code) else {
            throw .malformed("unknown attribute code \(code)")
        }
        self = attribute
    }
}

extension [ItemAttribute: AttributeValue] {
    var wire: [WireAttribute] { map { WireAttribute($0.key, $0.value) } }

    init(wire: [WireAttribute]) throws(WireError) {
        // Checked before memory is allocated for them.
        guard wire.count <= ItemAttribute.allCases.count else {
            throw .malformed("\(wire.count) attributes, some of them twice")
        }
        self.init(minimumCapacity: wire.count)
        for one in wire {
            let (attribute, value) = try one.decode()
            guard updateValue(value, forKey: attribute) == nil else {
                throw .malformed("duplicate attribute '\(attribute.rawValue)'")
            }
        }
    }
}

extension WireSecrets {
    init(_ secrets: ItemSecrets, _ collector: inout SecretCollector) {
        self.init(data: secrets.data, attributes: secrets.attributes, &collector)
    }

    init(data: SharedSecret?, attributes: [ItemAttribute: SharedSecret], _ collector: inout SecretCollector) {
        self.init()
        if let data { self.data = collector.append(data) }
        for (attribute, secret) in attributes {
            var one = WireSecretAttribute()
            one.code = attribute.code
            one.secret = collector.append(secret)
            self.attributes.append(one)
        }
    }

    func decode(_ table: inout SecretTable) throws(WireError) -> ItemSecrets {
        try requireKnown(self)
        var secrets = ItemSecrets()
        if hasData { secrets.data = try table.take(data) }
        for one in attributes {
            try requireKnown(one)
            let attribute = try ItemAttribute(wireCode: one.code)
            guard secrets.attributes.updateValue(try table.take(one.secret), forKey: attribute) == nil else {
                throw .malformed("duplicate secret attribute '\(attribute.rawValue)'")
            }
        }
        return secrets
    }
}

// MARK: Codes

extension ItemClass {
    package init(wire number: UInt32) throws(WireError) {
        guard let code = UInt8(exactly: number), let known = ItemClass(number: code) else {
            throw .malformed("unknown item class \(number)")
        }
        self = known
    }
}

extension ProtectionClass {
    package init(wire number: UInt32) throws(WireError) {
        guard let code = UInt8(exactly: number), let known = ProtectionClass(number: code) else {
            throw .malformed("unknown protection class \(number)")
        }
        self = known
    }
}

extension AccessGroup.Grade {
    package init(wire number: UInt32) throws(WireError) {
        guard let code = UInt8(exactly: number), let known = AccessGroup.Grade(rawValue: code) else {
            throw .malformed("unknown grade \(number)")
        }
        self = known
    }
}

extension SynchronizableScope {
    var wire: UInt32 {
        switch self {
        case .local: 0
        case .synchronized: 1
        case .any: 2
        }
    }

    init(wire number: UInt32) throws(WireError) {
        switch number {
        case 0: self = .local
        case 1: self = .synchronized
        case 2: self = .any
        default: throw .malformed("unknown scope \(number)")
        }
    }
}

extension PersistentReference {
    package init(wire bytes: Data) throws(WireError) {
        guard let reference = PersistentReference(bytes: Array(bytes)) else {
            throw .malformed("a persistent reference is malformed")
        }
        self = reference
    }
}

// MARK: Additions, queries, updates

extension WireAddition {
    package init(_ item: ItemAddition, _ collector: inout SecretCollector) {
        self.init()
        itemClass = UInt32(item.itemClass.number)
        attributes = item.attributes.wire
        secrets = WireSecrets(item.secrets, &collector)
        if let name = item.accessGroup { accessGroup = name }
        if let protection = item.protection { self.protection = UInt32(protection.number) }
        if let flags = item.accessControlFlags { accessControlFlags = flags.rawValue }
        isSynchronizable = item.isSynchronizable
        if let authentication = WireAuthentication(item.authentication) { self.authentication = authentication }
        if let lookup = item.lookupAttributes { lookupAttributes = Data(lookup.encoded) }
        if let type = item.contentType { contentType = type.text }
        replaces = item.replaces
    }

    package func decode(_ table: inout SecretTable) throws(WireError) -> ItemAddition {
        try requireKnown(self)
        if hasAccessGroup { try WireNames.check(accessGroup) }
        var item = ItemAddition(
            try ItemClass(wire: itemClass), attributes: try .init(wire: attributes),
            secrets: try secrets.decode(&table),
            accessGroup: hasAccessGroup ? accessGroup : nil,
            protection: hasProtection ? try ProtectionClass(wire: protection) : nil,
            accessControlFlags: hasAccessControlFlags ? AccessControlFlags(rawValue: accessControlFlags) : nil,
            isSynchronizable: isSynchronizable,
            authentication: hasAuthentication ? try authentication.decode() : Authentication())
        if hasLookupAttributes { item.lookupAttributes = try LookupAttributes(wire: lookupAttributes) }
        if hasContentType { item.contentType = try ContentType(wire: contentType) }
        item.replaces = replaces
        return item
    }
}

extension WireQuery {
    package init(_ query: ItemQuery) {
        self.init()
        if let itemClass = query.itemClass { self.itemClass = UInt32(itemClass.number) }
        attributes = query.attributes.wire
        if let name = query.accessGroup { accessGroup = name }
        accessGroups = query.accessGroups
        synchronizable = query.synchronizable.wire
        if let reference = query.persistentReference { persistentReference = Data(reference.bytes) }
        switch query.limit {
        case .one?: one = WireNothing()
        case .all?: all = WireNothing()
        case .atMost(let count)?: atMost = Int64(count)
        case nil: break
        }
        if query.match != MatchOptions() { match = WireMatch(query.match) }
        includesTombstones = query.includesTombstones
        if let authentication = WireAuthentication(query.authentication) { self.authentication = authentication }
        if let lookup = query.lookupAttributes { lookupAttributes = Data(lookup.encoded) }
    }

    package func decode() throws(WireError) -> ItemQuery {
        try requireKnown(self)
        if hasAccessGroup { try WireNames.check(accessGroup) }
        var query = ItemQuery(
            hasItemClass ? try ItemClass(wire: itemClass) : nil, attributes: try .init(wire: attributes),
            accessGroup: hasAccessGroup ? accessGroup : nil,
            synchronizable: try SynchronizableScope(wire: synchronizable),
            persistentReference: hasPersistentReference ? try PersistentReference(wire: persistentReference) : nil,
            limit: try decodedLimit(), match: try match.decode(), includesTombstones: includesTombstones,
            authentication: hasAuthentication ? try authentication.decode() : Authentication())
        if hasLookupAttributes { query.lookupAttributes = try LookupAttributes(wire: lookupAttributes) }
        query.accessGroups = try decodedGroups()
        return query
    }

    private func decodedGroups() throws(WireError) -> [String] {
        guard accessGroups.count <= WireNames.maxCount else {
            throw .malformed("\(accessGroups.count) access groups, at most \(WireNames.maxCount) are allowed")
        }
        for name in accessGroups { try WireNames.check(name) }
        return accessGroups
    }

    private func decodedLimit() throws(WireError) -> MatchLimit? {
        switch limit {
        case .one(let nothing)?:
            try requireKnown(nothing)
            return .one
        case .all(let nothing)?:
            try requireKnown(nothing)
            return .all
        case .atMost(let number)?:
            guard let count = UInt32(exactly: number) else { throw .malformed("a limit is out of range: \(number)") }
            return .atMost(count)
        case nil: return nil
        }
    }
}

extension WireMatch {
    init(_ match: MatchOptions) {
        self.init()
        ignoresCase = match.ignoresCase
        if let text = match.subjectContains { subjectContains = text }
        if let host = match.hostOrSubdomain { hostOrSubdomain = host }
        if let address = match.emailAddress { emailAddress = address }
        if let items = match.items { self.items.references = items.map { Data($0.bytes) } }
    }

    func decode() throws(WireError) -> MatchOptions {
        try requireKnown(self)
        var match = MatchOptions()
        match.ignoresCase = ignoresCase
        if hasSubjectContains { match.subjectContains = subjectContains }
        if hasHostOrSubdomain { match.hostOrSubdomain = hostOrSubdomain }
        if hasEmailAddress { match.emailAddress = emailAddress }
        if hasItems {
            try requireKnown(items)
            var references: Set<PersistentReference> = []
            for bytes in items.references { references.insert(try PersistentReference(wire: bytes)) }
            match.items = references
        }
        return match
    }
}

extension WireUpdate {
    package init(_ update: ItemUpdate, _ collector: inout SecretCollector) {
        self.init()
        attributes = update.attributes.wire
        secrets = WireSecrets(data: update.data, attributes: update.secretAttributes, &collector)
        if let name = update.accessGroup { accessGroup = name }
        if let protection = update.protection { self.protection = UInt32(protection.number) }
        if let flags = update.accessControlFlags { accessControlFlags = flags.rawValue }
        if let value = update.isSynchronizable { isSynchronizable = value }
        if let date = update.created { created = date }
        if let lookup = update.lookupAttributes { lookupAttributes = Data(lookup.encoded) }
        if let type = update.contentType { contentType = type.text }
    }

    package func decode(_ table: inout SecretTable) throws(WireError) -> ItemUpdate {
        try requireKnown(self)
        if hasAccessGroup { try WireNames.check(accessGroup) }
        let secrets = try secrets.decode(&table)
        guard !hasCreated || created.isFinite else { throw .malformed("a date is not finite") }
        var update = ItemUpdate(
            attributes: try .init(wire: attributes), data: secrets.data, secretAttributes: secrets.attributes,
            accessGroup: hasAccessGroup ? accessGroup : nil,
            protection: hasProtection ? try ProtectionClass(wire: protection) : nil,
            accessControlFlags: hasAccessControlFlags ? AccessControlFlags(rawValue: accessControlFlags) : nil,
            isSynchronizable: hasIsSynchronizable ? isSynchronizable : nil, created: hasCreated ? created : nil)
        if hasLookupAttributes { update.lookupAttributes = try LookupAttributes(wire: lookupAttributes) }
        if hasContentType { update.contentType = try ContentType(wire: contentType) }
        return update
    }
}

// MARK: Records

extension WireRecord {
    package init(_ record: ItemRecord, _ collector: inout SecretCollector) {
        self.init()
        identifier = Data(record.identifier.bytes)
        itemClass = UInt32(record.itemClass.number)
        protection = UInt32(record.protection.number)
        accessGroup = record.accessGroup.name
        grade = UInt32(record.accessGroup.grade.rawValue)
        isSynchronizable = record.isSynchronizable
        isTombstone = record.isTombstone
        created = record.created
        modified = record.modified
        attributes = record.attributes.wire
        if let flags = record.accessControlFlags { accessControlFlags = flags.rawValue }
        maker = record.addedBy
        if let secrets = record.secrets { self.secrets = WireSecrets(secrets, &collector) }
        if let lookup = record.storedLookup { lookupAttributes = Data(lookup.encoded) }
        if let type = record.contentType { contentType = type.text }
    }

    package func decode(_ table: inout SecretTable) throws(WireError) -> ItemRecord {
        try requireKnown(self)
        guard let identifier = ItemIdentifier(bytes: Array(identifier)) else {
            throw .malformed("the identifier of an item is malformed")
        }
        guard created.isFinite, modified.isFinite else { throw .malformed("a date is not finite") }
        var record = ItemRecord(
            identifier: identifier, itemClass: try ItemClass(wire: itemClass),
            protection: try ProtectionClass(wire: protection),
            accessGroup: AccessGroup(accessGroup, grade: try AccessGroup.Grade(wire: grade)),
            isSynchronizable: isSynchronizable,
            isTombstone: isTombstone, created: created, modified: modified, attributes: try .init(wire: attributes),
            accessControlFlags: hasAccessControlFlags ? AccessControlFlags(rawValue: accessControlFlags) : nil,
            addedBy: maker,
            secrets: hasSecrets ? try secrets.decode(&table) : nil)
        if hasLookupAttributes { record.storedLookup = try LookupAttributes(wire: lookupAttributes) }
        if hasContentType { record.contentType = try ContentType(wire: contentType) }
        return record
    }
}
