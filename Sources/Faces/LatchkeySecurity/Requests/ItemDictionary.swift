// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import KeychainModel
internal import SecretMemory

/// A caller's dictionary, with its keys sorted by their form (keychain-behaviour §1.1). Only this
/// type reads such dictionaries.
///
/// The length and the first letter of a key determine its kind, before it is known whether the key
/// exists.
struct ItemDictionary {
    /// Keys of four characters, with their values as the caller gave them.
    private(set) var attributes: [(code: String, value: Any)] = []
    private(set) var itemClass: Any?
    private(set) var match: [String: Any] = [:]
    private(set) var returning: ReturnTypes = []
    private(set) var use: [String: Any] = [:]
    private(set) var data: Any?
    private(set) var reference: Any?
    private(set) var persistentReference: Any?

    init(_ dictionary: CFDictionary) throws(KeychainError) {
        for (key, value) in dictionary.entries {
            guard let name = key as? String else { throw .parameter("the keys of the dictionary must be strings") }
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
            case _ where Self.internalNames.contains(name): throw .parameter("'\(name)' is reserved")
            default: attributes.append((name, value))
            }
            return
        }
        switch name.utf8.first {
        case UInt8(ascii: "c") where name == Key.itemClass: itemClass = value
        case UInt8(ascii: "m") where name.utf8.count > 1: match[name] = value
        case UInt8(ascii: "r"): try takeReturn(name, value)
        case UInt8(ascii: "u"):
            guard Key.knownUse.contains(name) else { throw .parameter("unknown key '\(name)'") }
            use[name] = value
        case UInt8(ascii: "v"): try takeValue(name, value)
        case UInt8(ascii: "f") where name.utf8.count > 1: break
        default: throw .parameter("unknown key '\(name)'")
        }
    }

    private mutating func takeReturn(_ name: String, _ value: Any) throws(KeychainError) {
        guard let type = Key.returnTypes[name] else { throw .parameter("unknown key '\(name)'") }
        guard let isAsked = ValueConversion.boolean(value) else {
            throw .parameter("'\(name)' must be a Boolean")
        }
        if isAsked { returning.insert(type) } else { returning.remove(type) }
    }

    private mutating func takeValue(_ name: String, _ value: Any) throws(KeychainError) {
        switch name {
        case Key.data: data = value
        case Key.reference: reference = value
        case Key.persistentReference: persistentReference = value
        default: throw .parameter("unknown key '\(name)'")
        }
    }

    // MARK: Values of the keys

    /// The class that the dictionary names; nil if it names none.
    func namedClass() throws(KeychainError) -> ItemClass? {
        guard let itemClass else { return nil }
        guard let name = itemClass as? String else { throw .parameter("kSecClass must be a string") }
        guard let known = ItemClass(rawValue: name) else { throw KeychainError(.noSuchClass) }
        return known
    }

    /// Returns the required class.
    func requiredClass() throws(KeychainError) -> ItemClass {
        guard let itemClass = try namedClass() else { throw .parameter("kSecClass is missing") }
        return itemClass
    }

    /// The data; nil if there is none.
    func secret() throws(KeychainError) -> SharedSecret? {
        guard let data else { return nil }
        return try ValueConversion.secret(data, name: Key.data)
    }

    /// The persistent reference; nil if there is none.
    func decodedPersistentReference() throws(KeychainError) -> PersistentReference? {
        guard let persistentReference else { return nil }
        guard let bytes = persistentReference as? Data, let reference = PersistentReference(bytes: Array(bytes)) else {
            throw .parameter("kSecValuePersistentRef must be a persistent reference")
        }
        return reference
    }

    /// The object in `kSecValueRef`; nil if there is none.
    ///
    /// - Throws: errSecParam if the value is of another type, or kSecClass names another class.
    func itemReference() throws(KeychainError) -> ItemReference? {
        guard let reference else { return nil }
        return try checked(reference, Key.reference)
    }

    /// Converts an object and checks it against the class that the dictionary names, if any.
    private func checked(_ object: Any, _ key: String) throws(KeychainError) -> ItemReference {
        guard let known = ItemReference(object) else {
            throw .parameter("'\(key)' must be a key, certificate, identity or SecKeychainItem")
        }
        if let named = try namedClass(), named != known.itemClass {
            throw .parameter("'\(key)' is of \(known.itemClass.constant), but kSecClass is another class")
        }
        return known
    }

    /// The objects of kSecUseItemList, all of one class; nil if the key is absent.
    func objectsToAdd() throws(KeychainError) -> [ItemReference]? {
        guard let value = use[Key.itemList] else { return nil }
        guard let list = value as? [Any], !list.isEmpty else {
            throw .parameter("kSecUseItemList must be an array of items")
        }
        let objects = try list.map { (object) throws(KeychainError) in try checked(object, Key.itemList) }
        guard Set(objects.map(\.itemClass)).count == 1 else {
            throw .parameter("the items of kSecUseItemList must be of one class")
        }
        return objects
    }

    /// The items that kSecMatchItemList and kSecUseItemList allow; nil if neither is given.
    func listedItems() throws(KeychainError) -> ItemList? {
        let matched = try match[Key.matchItemList].map { (value) throws(KeychainError) in
            try entries(of: value, Key.matchItemList)
        }
        let used = try use[Key.itemList].map { (value) throws(KeychainError) in
            guard (value as? [Any])?.isEmpty == false else {
                throw .parameter("kSecUseItemList must be an array of items")
            }
            return try entries(of: value, Key.itemList)
        }
        guard let matched else { return used.map { ItemList($0) } }
        return ItemList(matched, and: used)
    }

    private func entries(of value: Any, _ key: String) throws(KeychainError) -> [ItemList.Entry] {
        guard let list = value as? [Any] else {
            throw KeychainError(.unimplemented, "'\(key)' must be an array of items")
        }
        return try list.map { (entry) throws(KeychainError) in
            if let bytes = entry as? Data {
                guard let reference = PersistentReference(bytes: Array(bytes)) else {
                    throw .parameter("an entry of '\(key)' must be a persistent reference")
                }
                return .reference(reference)
            }
            guard let object = ItemReference(entry) else {
                throw KeychainError(
                    .unimplemented, "an entry of '\(key)' must be a persistent reference or an object for an item")
            }
            return .object(object)
        }
    }

    // MARK: Keychains

    /// The keychain that gets a new item: that of kSecUseKeychain.
    func addedKeychain() throws(KeychainError) -> ChosenKeychains {
        ChosenKeychains(try usedKeychain().map { [$0] })
    }

    /// The keychains of a search, an update or a delete: those of kSecMatchSearchList; without it that
    /// of kSecUseKeychain; without both that of the object in kSecValueRef, if it names one.
    func searchedKeychains() throws(KeychainError) -> ChosenKeychains {
        let used = try usedKeychain()
        if let value = match[Key.searchList] {
            guard let keychains = value as? [SecKeychain] else {
                throw .parameter("kSecMatchSearchList must be an array of SecKeychain")
            }
            return ChosenKeychains(keychains.map(\.name))
        }
        if let used { return ChosenKeychains([used]) }
        return ChosenKeychains(try itemReference()?.keychain.map { [$0] })
    }

    private func usedKeychain() throws(KeychainError) -> KeychainName? {
        guard let value = use[Key.keychain] else { return nil }
        guard let keychain = value as? SecKeychain else { throw .parameter("kSecUseKeychain must be a SecKeychain") }
        return keychain.name
    }

    /// Whether the caller requests deleted synchronized items.
    func includesTombstones() throws(KeychainError) -> Bool { try flag(Key.tombstones) }

    /// The value of a `kSecUse…` key that is a Boolean; false if the key is absent.
    func flag(_ name: String) throws(KeychainError) -> Bool {
        guard let value = use[name] else { return false }
        guard let flag = ValueConversion.boolean(value) else { throw .parameter("'\(name)' must be a Boolean") }
        return flag
    }

    /// kSecUseDataProtectionKeychain and kSecAttrNoLegacy: accepted and ignored.
    private static let ignored = "nleg"
    /// Attributes that exist only inside a row.
    private static let internalNames: Set<String> = ["clip", "data", "v_pk"]
    private static let maxCount = 128

    /// Keys that are not attributes.
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
        /// Match keys that cause no warning in an update or a delete: they are obeyed, or do not
        /// narrow the search.
        static let withoutWarning: Set<String> = [limit, matchItemList, caseInsensitive, searchList]
        static let itemList = "u_ItemList"
        static let keychain = "u_Keychain"
        static let tombstones = "u_Tomb"
        static let credentialReference = "u_CredRef"
        static let authenticationContext = "u_AuthCtx"
        static let authenticationUI = "u_AuthUI"
        static let noAuthenticationUI = "u_NoAuthUI"
        static let operationPrompt = "u_OpPrompt"
        static let knownUse: Set<String> = [
            itemList, keychain, tombstones, credentialReference, authenticationContext, authenticationUI,
            noAuthenticationUI, operationPrompt, "u_CallerName", "u_TokenRawItems",
        ]
        static let returnTypes: [String: ReturnTypes] = [
            "r_Data": .data, "r_Attributes": .attributes, "r_Ref": .reference, "r_PersistentRef": .persistentReference,
        ]
    }
}
