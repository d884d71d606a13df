// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// A name of a kind that an object identifier tells (RFC 5280, section 4.2.1.6), as far as it carries
/// a host name, an email address or a URI: name constraints of those kinds apply to it.
///
/// RFC 9598, section 6, requires this of `SmtpUTF8Mailbox` alone. Of the others it is required here,
/// because a CA that may only issue for one domain could otherwise name a host of another one.
enum OtherName {
    /// A type of names, and how the name is written.
    private enum Form {
        /// `local@domain`, an email address.
        case mailbox
        /// `local@domain`, not always an email address.
        case account
        /// `local@domain/resource`; only the domain is required.
        case jabber
        /// `_service.domain`.
        case service
        /// A domain; it can begin with `*.`.
        case realm
        /// A SEQUENCE that begins with the realm.
        case principal
        case uri

        /// The kinds of name constraints that apply.
        var kinds: [GeneralName.Kind] {
            switch self {
            case .mailbox: [.email]
            case .account: [.email, .dns]
            case .jabber, .service, .realm, .principal: [.dns]
            case .uri: [.uri]
            }
        }
    }

    private static let forms: [ObjectIdentifier: Form] = [
        // id-on-SmtpUTF8Mailbox, RFC 9598.
        ObjectIdentifier(1, 3, 6, 1, 5, 5, 7, 8, 9): .mailbox,
        // Microsoft's user principal name, and id-on-AcpNodeName, RFC 8994.
        ObjectIdentifier(1, 3, 6, 1, 4, 1, 311, 20, 2, 3): .account,
        ObjectIdentifier(1, 3, 6, 1, 5, 5, 7, 8, 10): .account,
        // id-on-xmppAddr, RFC 6120.
        ObjectIdentifier(1, 3, 6, 1, 5, 5, 7, 8, 5): .jabber,
        // id-on-dnsSRV, RFC 4985.
        ObjectIdentifier(1, 3, 6, 1, 5, 5, 7, 8, 7): .service,
        // id-on-naiRealm, RFC 7585.
        ObjectIdentifier(1, 3, 6, 1, 5, 5, 7, 8, 8): .realm,
        // id-pkinit-san, RFC 4556.
        ObjectIdentifier(1, 3, 6, 1, 5, 2, 2): .principal,
        // id-on-bundleEID, RFC 9174.
        ObjectIdentifier(1, 3, 6, 1, 5, 5, 7, 8, 11): .uri,
    ]

    /// The kinds of name constraints that apply to a name, beside those for other names; all kinds if
    /// the name cannot be read. None apply to types that carry no such name.
    ///
    /// - Parameter encoded: the DER of the name.
    static func constrainedKinds(_ encoded: ArraySlice<UInt8>) -> [GeneralName.Kind] {
        guard let (type, _) = try? parts(encoded) else { return [.email, .dns, .uri] }
        return forms[type]?.kinds ?? []
    }

    /// The name as one of another kind, to be compared with its name constraints.
    ///
    /// - Throws: if the name cannot be read, so that it cannot be compared.
    static func name(_ encoded: ArraySlice<UInt8>, as kind: GeneralName.Kind) throws(CertificateError) -> GeneralName {
        let (type, value): (ObjectIdentifier, ASN1Node)
        do { (type, value) = try parts(encoded) } catch {
            throw CertificateError("an other name cannot be read: \(error)")
        }
        guard let form = forms[type], form.kinds.contains(kind), let text = text(value, form),
            let domain = domain(text, form)
        else { throw CertificateError("the other name of the type \(type) has no domain that can be compared") }
        switch kind {
        case .email: return .email(text)
        case .dns: return .dns(domain)
        default: return .uri(text)
        }
    }

    private static func parts(_ encoded: ArraySlice<UInt8>) throws -> (type: ObjectIdentifier, value: ASN1Node) {
        let node = try DER.parse(encoded)
        let members = try node.members(node.identifier)
        guard members.count == 2 else { throw CertificateError("an other name must have a type and a value") }
        return (try ObjectIdentifier(members[0]), try members[1].explicit(0))
    }

    private static func text(_ value: ASN1Node, _ form: Form) -> ArraySlice<UInt8>? {
        if case .principal = form {
            // KRB5PrincipalName: the realm is a GeneralString (RFC 4556, section 3.2.2).
            guard let realm = try? value.members().first?.explicit(0),
                realm.identifier == ASN1Identifier(tagWithNumber: 27, tagClass: .universal)
            else { return nil }
            return realm.primitiveContent
        }
        guard [.utf8String, .ia5String].contains(value.identifier), let bytes = value.primitiveContent,
            String(validating: bytes, as: UTF8.self) != nil
        else { return nil }
        return bytes
    }

    private static func domain(_ text: ArraySlice<UInt8>, _ form: Form) -> ArraySlice<UInt8>? {
        switch form {
        case .mailbox, .account: text.lastIndex(of: .at).map { text[($0 + 1)...] }
        case .jabber:
            domain(ofAddress: text.prefix { $0 != UInt8(ascii: "/") })
        case .service:
            text.first == UInt8(ascii: "_") ? text.firstIndex(of: .dot).map { text[($0 + 1)...] } : nil
        case .realm, .principal, .uri: text
        }
    }

    private static func domain(ofAddress text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        text.firstIndex(of: .at).map { text[($0 + 1)...] } ?? text
    }
}

extension GeneralName {
    /// The kinds of name constraints that apply to the name.
    var constrainedKinds: [Kind] {
        guard case .other(.other, let encoded) = self else { return [kind] }
        return [.other] + OtherName.constrainedKinds(encoded)
    }
}
