// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import CertificateTrust

/// Names are checked against the name constraints of the CAs above.
@Suite("Name constraints")
struct NameConstraintsTests {
    private static let root = Issuer("root")
    private static let intermediate = Issuer("intermediate")
    private static let server = Issuer("server")
    private static let issuing = [Issuer.authority, Issuer.signsCertificates]

    private static func dns(_ text: String) -> [UInt8] { DERWriter.implicit(2, Array(text.utf8)) }
    private static func email(_ text: String) -> [UInt8] { DERWriter.implicit(1, Array(text.utf8)) }
    private static func uri(_ text: String) -> [UInt8] { DERWriter.implicit(6, Array(text.utf8)) }
    private static func ip(_ bytes: [UInt8]) -> [UInt8] { DERWriter.implicit(7, bytes) }
    private static func directory(_ commonName: String) -> [UInt8] {
        DERWriter.explicit(4, CertificateTemplate.name(commonName))
    }

    private static func names(_ names: [[UInt8]]) -> [UInt8] {
        CertificateTemplate.extension("2.5.29.17", DERWriter.element(0x30, names.flatMap { $0 }))
    }

    private static func constraints(permitted: [[UInt8]] = [], excluded: [[UInt8]] = []) -> [UInt8] {
        func part(_ tag: UInt8, _ names: [[UInt8]]) -> [UInt8] {
            names.isEmpty ? [] : DERWriter.explicit(tag, names.flatMap { DERWriter.sequence($0) })
        }
        return CertificateTemplate.extension(
            "2.5.29.30", critical: true, DERWriter.sequence(part(0, permitted), part(1, excluded)))
    }

    private static func failure(
        _ leaf: [[UInt8]], intermediate: [[UInt8]] = [], root: [[UInt8]] = [], subject: [UInt8]? = nil
    ) throws -> TrustFailure? {
        ChainBuilder.chain(
            for: try server.leaf(by: Self.intermediate) {
                $0.extensions = leaf
                if let subject { $0.subject = subject }
            },
            intermediates: CertificatePool([
                try Self.intermediate.certificate(by: Self.root) { $0.extensions = issuing + intermediate }
            ]),
            anchors: CertificatePool([try Self.root.certificate(by: Self.root) { $0.extensions = issuing + root }]),
            at: 1_780_000_000
        ).failure
    }

    @Test(
        "Subtrees permit and exclude names; a wildcard must be permitted as a whole and not be excluded in part",
        arguments: [
            (dns("example.com"), dns("example.com"), true, true),
            (dns("EXAMPLE.com"), dns("a.b.example.COM"), true, true),
            (dns("example.com"), dns("notexample.com"), false, false),
            (dns("a.example.com"), dns("example.com"), false, false),
            (dns(""), dns("example.com"), true, true), (dns(".example.com"), dns("a.example.com"), false, true),
            (dns(".example.com"), dns("example.com"), false, true),
            (dns("example.com"), dns("*.example.com"), true, true),
            (dns("a.example.com"), dns("*.example.com"), false, true),
            (dns("b.a.example.com"), dns("*.example.com"), false, false),
            (dns("a.example.com"), dns("*.a.example.com"), true, true),
            (dns("example.org"), dns("*.example.com"), false, false),
            (ip([192, 0, 2, 0, 255, 255, 255, 0]), ip([192, 0, 2, 7]), true, true),
            (ip([192, 0, 2, 0, 255, 255, 255, 0]), ip([192, 0, 3, 7]), false, false),
            (ip([0, 0, 0, 0, 0, 0, 0, 0]), ip([UInt8](repeating: 0, count: 16)), false, false),
            (ip([192, 0, 2, 0, 255, 255, 255, 128]), ip([192, 0, 2, 127]), true, true),
            (email("example.com"), email("a@example.com"), true, true),
            (email("example.com"), email("a@b.example.com"), false, false),
            (email(".example.com"), email("a@b.example.com"), true, true),
            (email(".example.com"), email("a@example.com"), false, false),
            (email("a@example.com"), email("a@EXAMPLE.com"), true, true),
            (email("a@example.com"), email("A@example.com"), false, false),
            (email("example.com"), email("a@example.com@example.org"), false, true),
            (uri("example.com"), uri("https://example.com:80/a?b"), true, true),
            (uri("example.com"), uri("https://a.example.com/"), false, false),
            (uri(".example.com"), uri("https://u@a.example.com"), true, true),
            (uri("example.com"), uri("https://example.com@example.org/"), false, false),
            (directory("a"), directory("A"), true, true), (directory("a"), directory("b"), false, false),
        ])
    func subtrees(_ subtree: [UInt8], _ name: [UInt8], _ isPermitted: Bool, _ isExcluded: Bool) throws {
        // The subject is a name, too: constraints on directory names apply to it.
        let subject = CertificateTemplate.name("a")
        let leaf = [Self.names([name])]
        for (intermediate, root) in [(true, false), (false, true)] {
            let (permitted, excluded) = (Self.constraints(permitted: [subtree]), Self.constraints(excluded: [subtree]))
            let chosen = subtree[0] == 0xA4 && root
            // The intermediate's own subject is outside the directory names that the root permits.
            if !chosen {
                let found = try Self.failure(
                    leaf, intermediate: intermediate ? [permitted] : [], root: root ? [permitted] : [], subject: subject
                )
                #expect(found?.rule == (isPermitted ? nil : .nameConstraints), "\(found?.explanation ?? "")")
            }
            guard subtree[0] != 0xA4 else { continue }
            let found = try Self.failure(
                leaf, intermediate: intermediate ? [excluded] : [], root: root ? [excluded] : [], subject: subject)
            #expect(found?.rule == (isExcluded ? .nameConstraints : nil), "\(found?.explanation ?? "")")
        }
    }

    @Test(
        "A constraint applies only to names of its kind, and refuses those that are unsupported or malformed"
    )
    func kinds() throws {
        let other = DERWriter.element(0xA0, DERWriter.identifier("1.2.3") + DERWriter.explicit(0, DERWriter.utf8("a")))
        let leaf = Self.names([Self.dns("example.com")])
        #expect(
            try Self.failure([leaf], intermediate: [Self.constraints(permitted: [Self.email("example.org")])]) == nil)
        #expect(try Self.failure([leaf], intermediate: [Self.constraints(permitted: [other])]) == nil)
        for constraints in [Self.constraints(permitted: [other]), Self.constraints(excluded: [other])] {
            #expect(try Self.failure([Self.names([other])], intermediate: [constraints])?.rule == .nameConstraints)
        }
        for wrong in ["a b.example.com", "*.*.example.com", "a*.example.com", "example.com.", ""] {
            let found = try Self.failure(
                [Self.names([Self.dns(wrong)])], intermediate: [Self.constraints(excluded: [Self.dns("example.org")])])
            #expect(found?.rule == .nameConstraints, "\(wrong)")
        }
        for wrong in [[1, 2, 3, 4], [192, 0, 2, 0, 255, 0, 255, 0], [192, 0, 2, 0, 255, 255, 253, 0]] as [[UInt8]] {
            let found = try Self.failure(
                [Self.names([Self.ip([192, 0, 2, 1])])], intermediate: [Self.constraints(excluded: [Self.ip(wrong)])])
            #expect(found?.rule == .nameConstraints, "\(wrong)")
        }
        for wrong in ["mailto:a@example.com", "https:///a", "https://192.0.2.1/", "example.com"] {
            let found = try Self.failure(
                [Self.names([Self.uri(wrong)])], intermediate: [Self.constraints(excluded: [Self.uri("a.org")])])
            #expect(found?.rule == .nameConstraints, "\(wrong)")
        }
    }

    private static func other(_ type: String, _ value: [UInt8]) -> [UInt8] {
        DERWriter.element(0xA0, DERWriter.identifier(type) + DERWriter.explicit(0, value))
    }

    private static func other(_ type: String, _ text: String) -> [UInt8] { other(type, DERWriter.utf8(text)) }

    /// KRB5PrincipalName: a realm and a name.
    private static func principal(_ realm: String) -> [UInt8] {
        let name = DERWriter.sequence(
            DERWriter.explicit(0, DERWriter.integer(1)),
            DERWriter.explicit(1, DERWriter.sequence(DERWriter.element(0x1B, Array("krbtgt".utf8)))))
        return other(
            "1.3.6.1.5.2.2",
            DERWriter.sequence(
                DERWriter.explicit(0, DERWriter.element(0x1B, Array(realm.utf8))), DERWriter.explicit(1, name)))
    }

    private static let mailbox = "1.3.6.1.5.5.7.8.9"
    private static let principalName = "1.3.6.1.4.1.311.20.2.3"
    private static let (jabber, service, realm) = ("1.3.6.1.5.5.7.8.5", "1.3.6.1.5.5.7.8.7", "1.3.6.1.5.5.7.8.8")
    private static let (node, bundle) = ("1.3.6.1.5.5.7.8.10", "1.3.6.1.5.5.7.8.11")

    @Test(
        "Constraints on email addresses, host names and URIs bind other names that carry one (RFC 9598, section 6)",
        arguments: [
            (email("example.com"), other(mailbox, "dörte@example.com"), true, true),
            (email("example.com"), other(mailbox, "dörte@EXAMPLE.com"), true, true),
            (email("example.com"), other(mailbox, "dörte@example.org"), false, false),
            (email(".example.com"), other(mailbox, "dörte@a.example.com"), true, true),
            (email(".example.com"), other(mailbox, "dörte@example.com"), false, false),
            (email("a@example.com"), other(mailbox, "dörte@example.com"), false, false),
            (email("a@example.com"), other(mailbox, "a@example.com"), true, true),
            // Names that cannot be compared are refused.
            (email("example.com"), other(mailbox, "dörte@bücher.example"), false, true),
            (email("example.com"), other(mailbox, "dörte"), false, true),
            (email("example.com"), other(mailbox, DERWriter.octets([1])), false, true),
            (email("example.com"), other(mailbox, DERWriter.element(0x0C, [0xFF, 0x40, 0x61])), false, true),
            (email("example.com"), DERWriter.element(0xA0, DERWriter.identifier(mailbox)), false, true),
            (dns("example.com"), DERWriter.element(0xA0, DERWriter.identifier(mailbox)), false, true),
            (uri("example.com"), DERWriter.element(0xA0, []), false, true),
            // Constraints of a kind do not bind names of another kind.
            (dns("example.com"), other(mailbox, "dörte@example.org"), true, false),
            (uri("example.com"), other(mailbox, "dörte@example.org"), true, false),
            (email("example.com"), other("1.2.3", "a@example.org"), true, false),
            (email("example.com"), other(principalName, "a@example.com"), true, true),
            (email("example.com"), other(principalName, "a@example.org"), false, false),
            (dns("example.com"), other(principalName, "a@b.example.com"), true, true),
            (dns("example.com"), other(principalName, "a@example.org"), false, false),
            (dns("example.com"), other(principalName, "a"), false, true),
            (dns("example.com"), other(service, DERWriter.element(0x16, Array("_imap.example.com".utf8))), true, true),
            (
                dns("example.com"), other(service, DERWriter.element(0x16, Array("_imap.example.org".utf8))), false,
                false
            ),
            (dns("example.com"), other(service, DERWriter.element(0x16, Array("example.com".utf8))), false, true),
            (dns("example.com"), other(jabber, "a@im.example.com/phone@example.org"), true, true),
            (dns("example.com"), other(jabber, "im.example.org"), false, false),
            (dns("example.com"), other(jabber, "bücher.example"), false, true),
            (dns("example.com"), other(realm, "*.example.com"), true, true),
            (dns("a.example.com"), other(realm, "*.example.com"), false, true),
            (dns("example.com"), other(realm, "example.org"), false, false),
            (dns("example.com"), principal("EXAMPLE.COM"), true, true),
            (dns("example.com"), principal("EXAMPLE.ORG"), false, false),
            (dns("example.com"), other("1.3.6.1.5.2.2", "EXAMPLE.COM"), false, true),
            (dns("example.com"), other(node, DERWriter.element(0x16, Array("a+b@acp.example.com".utf8))), true, true),
            (email("example.com"), other(node, DERWriter.element(0x16, Array("a@example.org".utf8))), false, false),
            (uri("example.com"), other(bundle, DERWriter.element(0x16, Array("dtn://example.com/a".utf8))), true, true),
            (
                uri("example.com"), other(bundle, DERWriter.element(0x16, Array("dtn://example.org/a".utf8))), false,
                false
            ),
            (uri("example.com"), other(bundle, DERWriter.element(0x16, Array("ipn:1.2".utf8))), false, true),
        ])
    func otherNames(_ subtree: [UInt8], _ name: [UInt8], _ isPermitted: Bool, _ isExcluded: Bool) throws {
        let leaf = [Self.names([name])]
        let permitted = try Self.failure(leaf, root: [Self.constraints(permitted: [subtree])])
        #expect(permitted?.rule == (isPermitted ? nil : .nameConstraints), "\(permitted?.explanation ?? "")")
        let excluded = try Self.failure(leaf, root: [Self.constraints(excluded: [subtree])])
        #expect(excluded?.rule == (isExcluded ? .nameConstraints : nil), "\(excluded?.explanation ?? "")")
        // Without constraints, every such name is accepted.
        #expect(try Self.failure(leaf) == nil)
    }

    @Test("A malformed name constraint is refused, and so is an email address with several @")
    func malformed() throws {
        for (subtree, name) in [
            (Self.dns("*.example.com"), Self.dns("a.example.com")), (Self.dns("example.com."), Self.dns("example.com")),
            (Self.email("@example.com"), Self.email("a@example.com")), (Self.email("a@"), Self.email("a@example.com")),
            (Self.uri("https://example.com"), Self.uri("https://example.com/")),
        ] {
            let found = try Self.failure([Self.names([name])], intermediate: [Self.constraints(excluded: [subtree])])
            #expect(found?.rule == .nameConstraints)
        }
        for subtree in [Self.dns(""), Self.email(""), Self.uri("")] {
            let name =
                subtree[0] == 0x82
                ? Self.dns("a.b") : subtree[0] == 0x81 ? Self.email("a@b.c") : Self.uri("https://a.b/")
            #expect(
                try Self.failure([Self.names([name])], intermediate: [Self.constraints(excluded: [subtree])])?.rule
                    == .nameConstraints)
            #expect(
                try Self.failure([Self.names([name])], intermediate: [Self.constraints(permitted: [subtree])]) == nil)
        }
        for wrong in ["a@b@example.com", "\"a b\"@example.com", "example.com", "@example.com"] {
            let found = try Self.failure(
                [Self.names([Self.email(wrong)])],
                intermediate: [Self.constraints(permitted: [Self.email("example.com")])])
            #expect(found?.rule == .nameConstraints, "\(wrong)")
        }
        // An address in the subject is checked as well as one in the alternative names.
        let subject = DERWriter.sequence(
            DERWriter.set(
                DERWriter.sequence(
                    DERWriter.identifier("1.2.840.113549.1.9.1"), DERWriter.element(0x16, Array("a@other.org".utf8)))))
        let found = try Self.failure(
            [Self.names([Self.email("a@example.com")])],
            intermediate: [Self.constraints(permitted: [Self.email("example.com")])],
            subject: subject)
        #expect(found?.rule == .nameConstraints)
    }

    @Test("Constraints apply to every name of every certificate below; end entities must have none; work is limited")
    func extent() throws {
        let permitted = Self.constraints(permitted: [Self.dns("example.com")])
        let two = Self.names([Self.dns("example.com"), Self.dns("example.org")])
        #expect(try Self.failure([two], root: [permitted])?.rule == .nameConstraints)
        // The intermediate's own name.
        let own = [Self.names([Self.dns("ca.example.org")])]
        #expect(
            try Self.failure([Self.names([Self.dns("example.com")])], intermediate: own, root: [permitted])?.index == 1)
        #expect(try Self.failure([Self.names([Self.dns("example.com")]), permitted])?.rule == .nameConstraints)
        // An email address in the subject.
        let subject = DERWriter.sequence(
            DERWriter.set(
                DERWriter.sequence(
                    DERWriter.identifier("1.2.840.113549.1.9.1"), DERWriter.element(0x16, Array("a@example.org".utf8))))
        )
        let mail = Self.constraints(permitted: [Self.email("example.com")])
        #expect(
            try Self.failure([Self.names([Self.dns("a.b")])], intermediate: [mail], subject: subject)?.rule
                == .nameConstraints)
        let many = (0..<2048).map { Self.dns("host\($0).example.com") }
        #expect(try Self.failure([Self.names(many)], intermediate: [Self.constraints(excluded: many)])?.rule == .budget)
    }
}
