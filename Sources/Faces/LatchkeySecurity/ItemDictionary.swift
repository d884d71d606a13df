// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import KeychainModel
internal import SecretMemory

/// A caller's dictionary, its keys sorted by shape (keychain-behaviour §1.1). The one place where such dictionaries are read.
///
/// What a key means is decided by its length and first letter, before it is known whether such a key exists.
struct ItemDictionary {
    /// Keys of four characters, with their values as they were given.
    private(set) var attributes: [(code: String, value: Any)] = []
    private(set) var itemClass: Any?
    private(set) var match: [String: Any] = [:]
    private(set) var returning: ReturnTypes = []
    private(set) var use: [String: Any] = [:]
    private(set) var data: Any?
    private(set) var reference: Any?
    private(set) var persistentReference: Any?

    init(_ dictionary: CFDictionary) throws(KeychainError) {
        for (key, value) in dictionary {
            guard let name = key as? String else { throw .parameter("a key of the dictionary is no string") }
            try take(name, value)
        }
        guard attributes.count + match.count + use.count <= Self.maxCount else {
            throw .parameter("the dictionary has too many keys")
        }
    }

    private mutating func take(_ name: String, _ value: Any) throws(KeychainError) {
        if name.utf8.count == 4 {
            switch name {
            case Self.ignored: break
            case _ where Self.internalNames.contains(name): throw .parameter("'\(name)' is not for callers")
            default: attributes.append((name, value))
            }
            return
        }
        switch name.utf8.first {
        case UInt8(ascii: "c") where name == Key.itemClass: itemClass = value
        case UInt8(ascii: "m") where name.utf8.count > 1: match[name] = value
        case UInt8(ascii: "r"): try takeReturn(name, value)
        case UInt8(ascii: "u"):
            guard Key.knownUse.contains(name) else { throw .parameter("there is no key '\(name)'") }
            use[name] = value
        case UInt8(ascii: "v"): try takeValue(name, value)
        case UInt8(ascii: "f") where name.utf8.count > 1: break
        default: throw .parameter("there is no key '\(name)'")
        }
    }

    private mutating func takeReturn(_ name: String, _ value: Any) throws(KeychainError) {
        guard let type = Key.returnTypes[name] else { throw .parameter("there is no key '\(name)'") }
        guard let isAsked = ValueConversion.boolean(value) else {
            throw .parameter("the value of '\(name)' is no Boolean")
        }
        if isAsked { returning.insert(type) } else { returning.remove(type) }
    }

    private mutating func takeValue(_ name: String, _ value: Any) throws(KeychainError) {
        switch name {
        case Key.data: data = value
        case Key.reference: reference = value
        case Key.persistentReference: persistentReference = value
        default: throw .parameter("there is no key '\(name)'")
        }
    }

    // MARK: What the keys mean

    /// The class that the dictionary names; nil where it names none.
    func namedClass() throws(KeychainError) -> ItemClass? {
        guard let itemClass else { return nil }
        guard let name = itemClass as? String else { throw .parameter("the value of kSecClass is no string") }
        guard let known = ItemClass(rawValue: name) else { throw KeychainError(.noSuchClass) }
        return known
    }

    /// The class, which must be named.
    func requiredClass() throws(KeychainError) -> ItemClass {
        guard let itemClass = try namedClass() else { throw .parameter("kSecClass is missing") }
        return itemClass
    }

    /// The data; nil where none is given.
    func secret() throws(KeychainError) -> SharedSecret? {
        guard let data else { return nil }
        return try ValueConversion.secret(data, name: Key.data)
    }

    /// The persistent reference; nil where none is given.
    func decodedPersistentReference() throws(KeychainError) -> PersistentReference? {
        guard let persistentReference else { return nil }
        guard let bytes = persistentReference as? Data, let reference = PersistentReference(bytes: Array(bytes)) else {
            throw .parameter("kSecValuePersistentRef is no persistent reference")
        }
        return reference
    }

    /// What `kSecValueRef` refers to; nil where there is none.
    ///
    /// - Throws: errSecParam where it is something else, or kSecClass names another class.
    func itemReference() throws(KeychainError) -> ItemReference? {
        guard let reference else { return nil }
        return try checked(reference, Key.reference)
    }

    /// An object of the class that the dictionary names, if it names one.
    private func checked(_ object: Any, _ key: String) throws(KeychainError) -> ItemReference {
        guard let known = ItemReference(object) else {
            throw .parameter("the value of '\(key)' is no key, certificate or identity")
        }
        if let named = try namedClass(), named != known.itemClass {
            throw .parameter("the value of '\(key)' is of \(known.itemClass.constant), and kSecClass another class")
        }
        return known
    }

    /// The objects of kSecUseItemList, all of one class; nil where it is not given.
    func objectsToAdd() throws(KeychainError) -> [ItemReference]? {
        guard let value = use[Key.itemList] else { return nil }
        guard let list = value as? [Any], !list.isEmpty else {
            throw .parameter("kSecUseItemList is no array of items")
        }
        let objects = try list.map { (object) throws(KeychainError) in try checked(object, Key.itemList) }
        guard Set(objects.map(\.itemClass)).count == 1 else {
            throw .parameter("the items of kSecUseItemList are of several classes")
        }
        return objects
    }

    /// The items that kSecMatchItemList and kSecUseItemList admit: those in both lists where both are given, nil where neither is.
    ///
    /// An entry is a persistent reference, or an object that stands for the items which kSecValueRef finds with it.
    func listedItems() throws(KeychainError) -> Set<PersistentReference>? {
        var listed: Set<PersistentReference>?
        if let value = match[Key.matchItemList] { listed = try items(in: value, Key.matchItemList) }
        if let value = use[Key.itemList] {
            guard (value as? [Any])?.isEmpty == false else { throw .parameter("kSecUseItemList is no array of items") }
            let used = try items(in: value, Key.itemList)
            listed = listed.map { $0.intersection(used) } ?? used
        }
        return listed
    }

    private func items(in value: Any, _ key: String) throws(KeychainError) -> Set<PersistentReference> {
        guard let list = value as? [Any] else {
            throw KeychainError(.unimplemented, "the value of '\(key)' is no array of items")
        }
        var items: Set<PersistentReference> = []
        for entry in list {
            if let bytes = entry as? Data {
                guard let reference = PersistentReference(bytes: Array(bytes)) else {
                    throw .parameter("an entry of '\(key)' is no persistent reference")
                }
                items.insert(reference)
            } else if let object = ItemReference(entry) {
                items.formUnion(try object.storedItems())
            } else {
                throw KeychainError(
                    .unimplemented, "an entry of '\(key)' is no persistent reference, key, certificate or identity")
            }
        }
        return items
    }

    /// Checks what the `kSecUse…` keys say, as far as every call treats them alike.
    func checkUse(allowsSkip: Bool, allowsItemList: Bool = true) throws(KeychainError) {
        if !allowsItemList, use[Key.itemList] != nil { throw .parameter("kSecUseItemList is not for new keys") }
        if use[Key.authenticationContext] != nil, use[Key.credentialReference] != nil {
            throw .parameter("kSecUseAuthenticationContext and a credential reference exclude each other")
        }
        for name in [Key.noAuthenticationUI, Key.tombstones] {
            if let value = use[name], ValueConversion.boolean(value) == nil {
                throw .parameter("the value of '\(name)' is no Boolean")
            }
        }
        guard let choice = use[Key.authenticationUI] else { return }
        switch choice as? String {
        case "u_AuthUIA", "u_AuthUIF": break
        case "u_AuthUIS" where allowsSkip: break
        default: throw .parameter("the value of kSecUseAuthenticationUI is not one that this call takes")
        }
    }

    /// Whether deleted synchronised items are asked for.
    var includesTombstones: Bool {
        use[Key.tombstones].flatMap(ValueConversion.boolean) ?? false
    }

    /// kSecUseDataProtectionKeychain and kSecAttrNoLegacy: accepted, without effect.
    private static let ignored = "nleg"
    /// Attributes that exist only inside a row.
    private static let internalNames: Set<String> = ["clip", "data", "v_pk"]
    private static let maxCount = 128

    /// Keys that are no attributes.
    enum Key {
        static let itemClass = "class"
        static let data = "v_Data"
        static let reference = "v_Ref"
        static let persistentReference = "v_PersistentRef"
        static let limit = "m_Limit"
        static let issuers = "m_Issuers"
        static let policy = "m_Policy"
        static let validOnDate = "m_ValidOnDate"
        static let trustedOnly = "m_TrustedOnly"
        static let emailAddress = "m_EmailAddressIfPresent"
        static let subjectContains = "m_SubjectContains"
        static let caseInsensitive = "m_CaseInsensitive"
        static let matchItemList = "m_ItemList"
        static let searchList = "m_SearchList"
        static let hostOrSubdomain = "m_HostOrSubdomainOfHost"
        /// Match keys that an update or a delete may have without a warning: they are obeyed, or leave nothing out.
        static let withoutWarning: Set<String> = [limit, matchItemList, caseInsensitive, searchList]
        static let itemList = "u_ItemList"
        static let tombstones = "u_Tomb"
        static let credentialReference = "u_CredRef"
        static let authenticationContext = "u_AuthCtx"
        static let authenticationUI = "u_AuthUI"
        static let noAuthenticationUI = "u_NoAuthUI"
        static let knownUse: Set<String> = [
            itemList, tombstones, credentialReference, authenticationContext, authenticationUI, noAuthenticationUI,
            "u_OpPrompt",
            "u_CallerName", "u_TokenRawItems",
        ]
        static let returnTypes: [String: ReturnTypes] = [
            "r_Data": .data, "r_Attributes": .attributes, "r_Ref": .reference, "r_PersistentRef": .persistentReference,
        ]
    }
}
