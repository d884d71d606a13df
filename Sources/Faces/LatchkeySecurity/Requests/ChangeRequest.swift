// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import KeychainModel
internal import LatchkeyService
internal import SecretMemory

/// The parsed query dictionary of `SecItemUpdate` or `SecItemDelete`.
///
/// Match keys have no effect, as on macOS, because code on Linux takes the branch that is meant for macOS
/// (keychain-behaviour §3.5). The exceptions are kSecMatchItemList and kSecMatchSearchList. macOS obeys these two keys:
/// if they were ignored, a call that names its items or its keychains would change all items.
struct ChangeRequest {
    enum Kind { case update, delete }

    let lookup: ItemLookup
    /// The class of the items, given by name or by reference.
    let itemClass: ItemClass
    let authentication: AuthenticationRequest
    let keychains: ChosenKeychains

    init(parsing dictionary: CFDictionary, for kind: Kind) throws(KeychainError) {
        let parsed = try ItemDictionary(dictionary)
        guard kind == .delete || parsed.returning.isEmpty else {
            throw .parameter("return keys are not allowed in SecItemUpdate")
        }
        authentication = try parsed.authentication(allowsSkip: false)
        keychains = try parsed.searchedKeychains()
        var lookup = try parsed.lookup()
        lookup.listed = try parsed.listedItems()
        if !Set(parsed.match.keys).isSubset(of: ItemDictionary.Key.withoutWarning) {
            ProgramLog.current.warn(.matchKeysIgnored)
        }
        self.lookup = lookup
        itemClass = lookup.query.itemClass ?? .genericPassword
        // As with Apple, the identity that a persistent reference names can be deleted but not
        // updated (keychain-behaviour, T088).
        if kind == .update, lookup.query.persistentReference?.itemClass == .identity {
            throw KeychainError(
                .internalFailure, "an identity must be updated by its attributes, not by its persistent reference")
        }
    }
}

/// The parsed second dictionary of `SecItemUpdate`.
struct UpdateRequest {
    let update: ItemUpdate

    init(parsing dictionary: CFDictionary, of itemClass: ItemClass) throws(KeychainError) {
        var named: [(code: String, value: Any)] = []
        var data: SharedSecret?
        for (key, value) in dictionary.entries {
            guard let name = key as? String else { throw .parameter("the keys of the dictionary must be strings") }
            guard !(value is NSNull) else { throw .parameter("'\(name)' must not be null") }
            switch name {
            case ItemDictionary.Key.data: data = try ValueConversion.secret(value, name: "kSecValueData")
            case "nleg", "musr": break
            case "clip": throw .parameter("'clip' is reserved")
            // Every other key is treated as an attribute. This includes class, match, return and use keys, and they are
            // then refused.
            default: named.append((name, value))
            }
        }
        var attributes = try ConvertedAttributes(named, of: itemClass)
        guard attributes.synchronizable != .any else {
            throw .parameter("kSecAttrSynchronizable must be a Boolean in an update")
        }
        var created: Double?
        if case .date(let date)? = attributes.plain[.creationDate] { created = date }
        attributes.removeSystemAttributes()
        update = ItemUpdate(
            attributes: attributes.plain, data: data, secretAttributes: attributes.secret,
            accessGroup: attributes.accessGroup,
            protection: attributes.protection, accessControlFlags: attributes.accessControlFlags,
            isSynchronizable: attributes.synchronizable.map { $0 == .synchronized }, created: created)
    }
}
