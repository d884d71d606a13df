// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import KeychainModel
internal import SecretMemory

/// The parsed dictionary of `SecKeyCreateRandomKey` (keychain-behaviour §6.4).
struct KeyGenerationRequest {
    let kind: KeyKind
    /// The halves to store; nil for a half that is not stored.
    let privateHalf: Half?
    let publicHalf: Half?
    /// The keychain of kSecUseKeychain, for both halves.
    let keychain: ChosenKeychains

    /// One half of the pair, to be stored.
    struct Half {
        var item: ItemAddition
        let authentication: AuthenticationRequest
        /// Whether searches find it; false only for a key of a token.
        let isPermanent: Bool
        let keychain: ChosenKeychains
    }

    init(parsing dictionary: CFDictionary) throws(KeychainError) {
        var top: [String: Any] = [:]
        for (key, value) in dictionary.entries {
            guard let name = key as? String else { throw .parameter("the keys of the dictionary must be strings") }
            top[name] = value
        }
        let halves = try [Self.privateAttributes, Self.publicAttributes].map { (name) throws(KeychainError) in
            guard let value = top.removeValue(forKey: name) else { return [String: Any]() }
            guard let half = value as? [String: Any] else {
                throw .parameter("'\(name)' must be a dictionary")
            }
            return half
        }
        guard let type = try Self.number(top.removeValue(forKey: "type"), "kSecAttrKeyType") else {
            throw .parameter("kSecAttrKeyType is missing")
        }
        guard let known = KeyType(rawValue: type) else {
            throw .parameter("generating keys of the type \(type) is unsupported")
        }
        var size = top.removeValue(forKey: "bsiz").flatMap { (try? Self.number($0, "")) ?? nil }
        // A token has a size of its own (keychain-behaviour §6.6).
        if size == nil, top["tkid"] != nil || halves[0]["tkid"] != nil { size = 256 }
        guard let size, let bits = Int(exactly: size) else {
            throw KeychainError(.keySizeNotAllowed, "kSecAttrKeySizeInBits must be a number")
        }
        kind = KeyKind(known, bits: bits)
        let ofPrivateHalf = top.merging(halves[0]) { $1 }
        let token = ofPrivateHalf["tkid"]
        privateHalf = try Self.half(ofPrivateHalf, token: token)
        if privateHalf == nil { try Self.refuseConstraints(ofPrivateHalf) }
        publicHalf = try Self.half(top.merging(halves[1]) { $1 }, token: nil)
        keychain = privateHalf?.keychain ?? publicHalf?.keychain ?? .searchList
    }

    /// Returns one half as an item; nil if it is not stored.
    ///
    /// - Parameter token: the token that holds the half. The half is then stored by default (keychain-behaviour §6.4).
    private static func half(_ attributes: [String: Any], token: Any?) throws(KeychainError) -> Half? {
        var own = attributes
        // The attributes of a half do not decide its type, size or class.
        for name in ["type", "bsiz", "kcls", "esiz", "class"] { own[name] = nil }
        own["tkid"] = token
        // Anything other than a Boolean counts as absent.
        let isPermanent = own.removeValue(forKey: "perm").flatMap(ValueConversion.boolean) ?? (token != nil)
        // The attributes of a half that is not stored are not parsed. A key of a token is an item,
        // also if the program does not name it.
        guard isPermanent || token != nil else { return nil }
        let parsed = try ItemDictionary(own as NSDictionary)
        guard parsed.match.isEmpty, parsed.returning.isEmpty else {
            throw .parameter("match and return keys are not allowed for new keys")
        }
        guard parsed.use[ItemDictionary.Key.itemList] == nil else {
            throw .parameter("kSecUseItemList is not allowed for new keys")
        }
        _ = try parsed.includesTombstones()  // It has no effect, but its type is checked.
        let authentication = try parsed.authentication(allowsSkip: false)
        var converted = try ConvertedAttributes(parsed.attributes, of: .key)
        converted.removeSystemAttributes()
        let item = ItemAddition(
            .key, attributes: converted.plain, accessGroup: converted.accessGroup, protection: converted.protection,
            accessControlFlags: converted.accessControlFlags,
            isSynchronizable: converted.synchronizable == .synchronized)
        return Half(
            item: item, authentication: authentication, isPermanent: isPermanent, keychain: try parsed.addedKeychain())
    }

    /// Refuses an access control that a key in memory would not obey: it would sign without asking
    /// the person.
    private static func refuseConstraints(_ attributes: [String: Any]) throws(KeychainError) {
        guard let value = attributes[ItemAttribute.accessControl.rawValue] else { return }
        guard let control = value as? SecAccessControl else {
            throw .parameter("kSecAttrAccessControl must be a SecAccessControl")
        }
        guard !control.hasConstraints else {
            throw KeychainError(
                .unimplemented, "an access control with constraints is for stored keys, not for keys in memory",
                hint: "set kSecAttrIsPermanent to true in kSecPrivateKeyAttrs")
        }
    }

    /// Returns the type and the half that the attributes of `SecKeyCreateWithData` name.
    static func typeAndHalf(_ dictionary: CFDictionary) throws(KeychainError) -> (KeyType, KeyHalf) {
        guard let type = try number(dictionary["type"], "kSecAttrKeyType"),
            let half = try number(dictionary["kcls"], "kSecAttrKeyClass")
        else { throw .parameter("kSecAttrKeyType or kSecAttrKeyClass is missing") }
        guard half != 2 else { throw KeychainError(.unimplemented, "symmetric keys are unsupported") }
        guard let type = KeyType(rawValue: type), let half = KeyHalf(rawValue: half) else {
            throw .parameter("keys of the type \(type) and the class \(half) are unsupported")
        }
        return (type, half)
    }

    /// Returns a number. A string is accepted if it is the number's decimal form.
    private static func number(_ value: Any?, _ name: String) throws(KeychainError) -> Int64? {
        guard let value else { return nil }
        if let text = value as? String {
            guard let number = Int64(text), "\(number)" == text else {
                throw .parameter("\(name) must be a number")
            }
            return number
        }
        guard ValueConversion.boolean(value) == nil, let number = ValueConversion.integer(value) else {
            throw .parameter("\(name) must be a number")
        }
        return number
    }

    private static let privateAttributes = "private"
    private static let publicAttributes = "public"
}
