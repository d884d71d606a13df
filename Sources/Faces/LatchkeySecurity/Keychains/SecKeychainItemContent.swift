// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import SecretMemory

// The attributes and the password of an item, as C has them. The tags are those of ``SecItemAttr``.

// MARK: Changing

/// Adds an item to a keychain.
///
/// - Parameters:
///   - itemClass: the class of a password.
///   - attrList: the attributes.
///   - length: the length of the password in bytes.
///   - data: the password.
///   - keychainRef: the keychain; nil for the default keychain.
///   - initialAccess: the access list. It is kept without effect.
///   - itemRef: receives the item.
/// - Returns: errSecUnimplemented for another class; errSecNoSuchAttr; errSecReadOnlyAttr for dates;
///   errSecDuplicateItem; errSecNoSuchKeychain; errSecParam for a length without bytes.
@available(*, deprecated, message: "use SecItemAdd")
@discardableResult
public func SecKeychainItemCreateFromContent(
    _ itemClass: SecItemClass, _ attrList: UnsafeMutablePointer<SecKeychainAttributeList>, _ length: UInt32,
    _ data: UnsafeRawPointer?, _ keychainRef: SecKeychain?, _ initialAccess: SecAccess?,
    _ itemRef: UnsafeMutablePointer<SecKeychainItem?>?
) -> OSStatus {
    status {
        var password = KeychainPassword(try itemClass.passwordClass())
        password.merge(try KeychainAttributes(attrList.pointee, of: password.itemClass))
        try password.set(initialAccess)
        try password.add(to: keychainRef, CallerBytes(data, length).secret, itemRef)
    }
}

/// Changes attributes and the password of an item.
///
/// - Parameters:
///   - itemRef: the item.
///   - attrList: the new attributes; the others keep their values. Nil for none.
///   - length: the length of the password in bytes.
///   - data: the new password; nil keeps the old one.
/// - Returns: errSecItemNotFound if the item was deleted; errSecNoSuchAttr; errSecReadOnlyAttr for
///   dates; errSecDuplicateItem; errSecNoSuchKeychain; errSecParam for a length without bytes.
@available(*, deprecated, message: "use SecItemUpdate")
@discardableResult
public func SecKeychainItemModifyAttributesAndData(
    _ itemRef: SecKeychainItem, _ attrList: UnsafePointer<SecKeychainAttributeList>?, _ length: UInt32,
    _ data: UnsafeRawPointer?
) -> OSStatus {
    status { try modify(itemRef.body, attrList?.pointee, data, length) }
}

/// Changes attributes and the password of an item, as
/// ``SecKeychainItemModifyAttributesAndData(_:_:_:_:)`` does.
@available(*, deprecated, message: "use SecItemUpdate")
@discardableResult
public func SecKeychainItemModifyContent(
    _ itemRef: SecKeychainItem, _ attrList: UnsafePointer<SecKeychainAttributeList>?, _ length: UInt32,
    _ data: UnsafeRawPointer?
) -> OSStatus {
    status { try modify(itemRef.body, attrList?.pointee, data, length) }
}

private func modify(
    _ item: KeychainItemBody, _ list: SecKeychainAttributeList?, _ data: UnsafeRawPointer?, _ length: UInt32
) throws(KeychainError) {
    let bytes = try CallerBytes(data, length)
    let update = ItemUpdate(
        attributes: try KeychainAttributes(list, of: item.itemClass).values, data: data == nil ? nil : bytes.secret)
    let session = try KeychainClient.session(named: item.keychain)
    guard try session.update(item.query, with: update) > 0 else { throw .itemNotFound }
}

/// Deletes an item.
///
/// - Returns: errSecItemNotFound if the item was deleted before; errSecNoSuchKeychain.
@available(*, deprecated, message: "use SecItemDelete")
@discardableResult
public func SecKeychainItemDelete(_ itemRef: SecKeychainItem) -> OSStatus {
    status {
        let item = itemRef.body
        guard try KeychainClient.session(named: item.keychain).delete(item.query) > 0 else {
            throw KeychainError.itemNotFound
        }
    }
}

/// Copies the keychain of an item.
@available(*, deprecated, message: "items are found in all keychains of the search list")
@discardableResult
public func SecKeychainItemCopyKeychain(
    _ itemRef: SecKeychainItem, _ keychainRef: UnsafeMutablePointer<SecKeychain?>
) -> OSStatus {
    keychainRef.pointee = SecKeychain(itemRef.body.keychain)
    return errSecSuccess
}

// MARK: Copying

/// Copies attributes and the password of an item into memory that
/// ``SecKeychainItemFreeContent(_:_:)`` frees.
///
/// - Parameters:
///   - itemRef: the item.
///   - itemClass: receives the class.
///   - attrList: a list with the tags of the wanted attributes. The call sets their `length` and `data`; the data of an
///     absent attribute is nil.
///   - length: receives the length of the password in bytes.
///   - outData: receives the password.
/// - Returns: errSecItemNotFound if the item was deleted; errSecNoSuchAttr;
///   errSecInteractionNotAllowed if the keychain is locked; errSecNoSuchKeychain.
@available(*, deprecated, message: "use SecItemCopyMatching")
@discardableResult
public func SecKeychainItemCopyContent(
    _ itemRef: SecKeychainItem, _ itemClass: UnsafeMutablePointer<SecItemClass>?,
    _ attrList: UnsafeMutablePointer<SecKeychainAttributeList>?, _ length: UnsafeMutablePointer<UInt32>?,
    _ outData: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> OSStatus {
    status {
        let content = try ItemContent(of: itemRef.body, withSecret: length != nil || outData != nil)
        if let list = attrList?.pointee { try content.fill(try KeychainAttributes.elements(of: list)) }
        content.give(itemClass, length, outData)
    }
}

/// Copies attributes and the password of an item into memory that
/// ``SecKeychainItemFreeAttributesAndData(_:_:)`` frees.
///
/// - Parameters:
///   - itemRef: the item.
///   - info: the tags of the wanted attributes; nil for none.
///   - itemClass: receives the class.
///   - attrList: receives the attributes.
///   - length: receives the length of the password in bytes.
///   - outData: receives the password.
/// - Returns: as ``SecKeychainItemCopyContent(_:_:_:_:_:)``; errSecParam if only one of `info` and
///   `attrList` is given.
@available(*, deprecated, message: "use SecItemCopyMatching")
@discardableResult
public func SecKeychainItemCopyAttributesAndData(
    _ itemRef: SecKeychainItem, _ info: UnsafeMutablePointer<SecKeychainAttributeInfo>?,
    _ itemClass: UnsafeMutablePointer<SecItemClass>?,
    _ attrList: UnsafeMutablePointer<UnsafeMutablePointer<SecKeychainAttributeList>?>?,
    _ length: UnsafeMutablePointer<UInt32>?, _ outData: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> OSStatus {
    status {
        guard (info == nil) == (attrList == nil) else {
            throw KeychainError.parameter("tags and a list of attributes belong together")
        }
        let content = try ItemContent(of: itemRef.body, withSecret: length != nil || outData != nil)
        if let info = info?.pointee { attrList?.pointee = try content.list(info) }
        content.give(itemClass, length, outData)
    }
}

/// The content that a call copies from an item.
private struct ItemContent {
    private let record: ItemRecord

    init(of item: KeychainItemBody, withSecret: Bool) throws(KeychainError) {
        var query = item.query
        query.limit = .one
        let returning: ReturnTypes = withSecret ? [.attributes, .data] : .attributes
        let session = try KeychainClient.session(named: item.keychain)
        guard let record = try session.copyMatching(query, returning: returning).records.first else {
            throw .itemNotFound
        }
        self.record = record
    }

    /// Sets the length and the data of each attribute.
    func fill(_ attributes: UnsafeMutableBufferPointer<SecKeychainAttribute>) throws(KeychainError) {
        // All tags are checked before the first memory is given away.
        let columns = try attributes.map { (attribute) throws(KeychainError) in
            try KeychainAttributes.column(attribute.tag, of: record.itemClass)
        }
        for (index, column) in zip(attributes.indices, columns) {
            let bytes = KeychainAttributes.bytes(of: column.attribute, in: record)
            attributes[index].length = UInt32(clamping: bytes?.count ?? 0)
            attributes[index].data = bytes.flatMap { $0.withUnsafeBytes { GivenMemory.copy($0) } }
        }
    }

    /// Returns a new list with the attributes of these tags.
    func list(
        _ info: SecKeychainAttributeInfo
    ) throws(KeychainError) -> UnsafeMutablePointer<SecKeychainAttributeList>? {
        guard info.count <= Self.maxCount else { throw .parameter("too many attributes: \(info.count)") }
        let tags = UnsafeBufferPointer(start: info.tag, count: Int(info.count))
        var attributes = tags.map { SecKeychainAttribute(tag: $0, length: 0, data: nil) }
        try attributes.withUnsafeMutableBufferPointer { (attributes) throws(KeychainError) in
            try fill(attributes)
        }
        let first = attributes.withUnsafeBytes { GivenMemory.copy($0) }
        var list = SecKeychainAttributeList(
            count: info.count, attr: first?.assumingMemoryBound(to: SecKeychainAttribute.self))
        return withUnsafeBytes(of: &list) { GivenMemory.copy($0) }?.assumingMemoryBound(
            to: SecKeychainAttributeList.self)
    }

    func give(
        _ itemClass: UnsafeMutablePointer<SecItemClass>?, _ length: UnsafeMutablePointer<UInt32>?,
        _ data: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) {
        if let itemClass, let known = SecItemClass(record.itemClass) { itemClass.pointee = known }
        if length != nil || data != nil { KeychainPassword.give(record.secrets?.data, length, data) }
    }

    private static let maxCount: UInt32 = 128
}

// MARK: Freeing

/// Wipes and frees the memory that a call has given to the program.
///
/// - Parameters:
///   - attrList: a list with attributes that ``SecKeychainItemCopyContent(_:_:_:_:_:)`` has set, or nil. The list
///     itself belongs to the program.
///   - data: a password, or nil.
/// - Returns: errSecParam for memory from elsewhere, and for memory that is freed already.
@available(*, deprecated, message: "use SecItemCopyMatching; its results are objects")
@discardableResult
public func SecKeychainItemFreeContent(
    _ attrList: UnsafeMutablePointer<SecKeychainAttributeList>?, _ data: UnsafeMutableRawPointer?
) -> OSStatus {
    status {
        if let list = attrList?.pointee { try freeAttributes(of: list) }
        try GivenMemory.free(data)
    }
}

/// Wipes and frees the list and the password that
/// ``SecKeychainItemCopyAttributesAndData(_:_:_:_:_:_:)`` has given to the program.
///
/// - Returns: errSecParam for memory from elsewhere, and for memory that is freed already.
@available(*, deprecated, message: "use SecItemCopyMatching; its results are objects")
@discardableResult
public func SecKeychainItemFreeAttributesAndData(
    _ attrList: UnsafeMutablePointer<SecKeychainAttributeList>?, _ data: UnsafeMutableRawPointer?
) -> OSStatus {
    status {
        if let attrList {
            guard GivenMemory.contains(attrList) else {
                throw KeychainError.parameter("this list is not from a call of the keychain")
            }
            let list = attrList.pointee
            try freeAttributes(of: list)
            try GivenMemory.free(list.attr)
            try GivenMemory.free(attrList)
        }
        try GivenMemory.free(data)
    }
}

private func freeAttributes(of list: SecKeychainAttributeList) throws(KeychainError) {
    let attributes = try KeychainAttributes.elements(of: list)
    for index in attributes.indices {
        try GivenMemory.free(attributes[index].data)
        attributes[index].data = nil
        attributes[index].length = 0
    }
}
