// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The parsed dictionary of `SecItemCopyMatching`.
struct CopyRequest {
    let lookup: ItemLookup
    let returning: ReturnTypes
    /// Conditions that need the parsed certificate; nil if there are none.
    let filter: CertificateFilter?
    let authentication: AuthenticationRequest
    let keychains: ChosenKeychains

    init(parsing dictionary: CFDictionary) throws(KeychainError) {
        let parsed = try ItemDictionary(dictionary)
        authentication = try parsed.authentication(allowsSkip: true)
        keychains = try parsed.searchedKeychains()
        var lookup = try parsed.lookup()
        if parsed.persistentReference != nil,
            !parsed.attributes.allSatisfy({ $0.code == ItemAttribute.synchronizable.rawValue })
        {
            throw .parameter("a persistent reference must not be combined with attributes")
        }
        let itemClass = lookup.query.itemClass ?? .genericPassword
        let limit = try Self.limit(parsed.match[ItemDictionary.Key.limit])
        let match = try parsed.matchOptions(for: itemClass)
        lookup.narrow { query in
            query.limit = limit
            query.match = match
        }
        lookup.listed = try parsed.listedItems()
        self.lookup = lookup
        returning = parsed.returning
        filter = try CertificateFilter(parsed.match, of: itemClass)
    }

    /// Whether the caller wants one result, not an array.
    var limitsToOne: Bool { (lookup.query.limit ?? .one) == .one }

    private static func limit(_ value: Any?) throws(KeychainError) -> MatchLimit? {
        guard let value else { return nil }
        switch value as? String {
        case "m_LimitOne": return .one
        case "m_LimitAll": return .all
        default: break
        }
        guard ValueConversion.boolean(value) == nil, let number = ValueConversion.integer(value) else {
            throw .parameter("kSecMatchLimit must be a number or one of its constants")
        }
        guard let limit = MatchLimit(validating: number) else {
            throw .parameter("kSecMatchLimit must not be negative")
        }
        return limit
    }
}

extension ItemDictionary {
    /// The conditions that the match keys state, without the lists of items.
    fileprivate func matchOptions(for itemClass: ItemClass) throws(KeychainError) -> MatchOptions {
        var options = MatchOptions()
        let isCertificate = itemClass == .certificate || itemClass == .identity
        if let value = match[Key.emailAddress] {
            guard let address = value as? String else {
                throw .parameter("kSecMatchEmailAddressIfPresent must be a string")
            }
            if isCertificate { options.emailAddress = address }
        }
        if let value = match[Key.hostOrSubdomain] {
            guard itemClass == .internetPassword else {
                throw KeychainError(.unimplemented, "a host match is only for internet passwords")
            }
            guard let host = value as? String else { throw .parameter("the host to match must be a string") }
            options.hostOrSubdomain = host
        }
        if let value = match[Key.subjectContains] {
            guard let text = value as? String else {
                throw .parameter("kSecMatchSubjectContains must be a string")
            }
            if isCertificate { options.subjectContains = text }
        }
        if let value = match[Key.caseInsensitive] {
            guard let flag = ValueConversion.boolean(value) else {
                throw .parameter("kSecMatchCaseInsensitive must be a Boolean")
            }
            options.ignoresCase = flag
        }
        return options
    }
}
