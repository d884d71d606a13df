// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import KeychainTesting
import Testing

@testable import CertificateTrust

/// Certificates that cost much work: each is read and evaluated, or refused, in time
/// (``TimeLimit``).
@Suite("Hostile certificates")
struct HostileInputTests {
    private static let root = Issuer("root")
    private static let intermediate = Issuer("intermediate")
    private static let server = Issuer("server")
    private static let count = 10_000

    /// Reads and evaluates a chain in DER; nil if it is trusted or cannot be read.
    private func refusal(leaf: [UInt8], intermediate: [UInt8], times: Double = 1, _ what: String) throws -> TrustRule? {
        let anchor = try Self.root.certificate(by: Self.root)
        return TimeLimit.within(times, what) {
            guard let leaf = try? Certificate(der: leaf), let intermediate = try? Certificate(der: intermediate) else {
                return nil
            }
            var evaluation = TrustEvaluation(
                [leaf, intermediate], policies: [.server(ServerName(requested: "example.com"))], at: 1_780_000_000)
            evaluation.anchors = [anchor]
            evaluation.isAnchorsOnly = true
            let verdict = evaluation.verdict()
            _ = verdict.failures.map(verdict.explanation)
            #expect(verdict.result.isTrusted == (verdict.failure == nil))
            return verdict.failure?.rule
        }
    }

    private func leaf(_ change: (inout CertificateTemplate) -> Void) throws -> [UInt8] {
        try Self.server.leafBytes(by: Self.intermediate) {
            change(&$0)
            $0.extensions?.append(Self.serverAuthentication)
        }
    }

    private static let serverAuthentication = CertificateTemplate.extension(
        "2.5.29.37", DERWriter.sequence(DERWriter.identifier("1.3.6.1.5.5.7.3.1")))

    private func issuer(_ extensions: [[UInt8]] = []) throws -> [UInt8] {
        try Self.intermediate.certificate(by: Self.root) {
            $0.extensions = [Issuer.authority, Issuer.signsCertificates] + extensions
        }.der
    }

    private static func names(_ names: [[UInt8]]) -> [UInt8] {
        CertificateTemplate.extension("2.5.29.17", DERWriter.element(0x30, names.flatMap { $0 }))
    }

    private static func dns(_ text: String) -> [UInt8] { DERWriter.implicit(2, Array(text.utf8)) }

    @Test("Ten thousand names are checked in time, with the required one last or missing")
    func manyNames() throws {
        let names = (0..<Self.count).map { Self.dns("host\($0).example.org") }
        #expect(
            try refusal(leaf: leaf { $0.extensions = [Self.names(names)] }, intermediate: issuer(), "none")
                == .serverName)
        let named = try leaf { $0.extensions = [Self.names(names + [Self.dns("example.com")])] }
        #expect(try refusal(leaf: named, intermediate: issuer(), "the last") == nil)
        let one = CertificateTemplate.extension(
            "2.5.29.30", critical: true,
            DERWriter.sequence(
                DERWriter.explicit(
                    0, DERWriter.sequence(Self.dns("example.org")) + DERWriter.sequence(Self.dns("example.com")))))
        #expect(try refusal(leaf: named, intermediate: issuer([one]), "constrained") == nil)
    }

    /// Names of one kind; no two are equal, and none is below another.
    static let kinds: [(String, @Sendable (Int) -> [UInt8], @Sendable (Int) -> [UInt8])] = [
        ("hosts", { dns("host\($0).example.com") }, { dns("host\($0).example.com") }),
        ("long hosts", { dns("\(longName)\($0).example.com") }, { dns("\(longName)\($0).example.com") }),
        (
            "addresses", { DERWriter.implicit(7, [10, 0, UInt8($0 >> 8), UInt8($0 & 0xFF)]) },
            {
                DERWriter.implicit(7, [10, 0, UInt8($0 >> 8), UInt8($0 & 0xFF), 255, 255, 255, 255])
            }
        ),
        (
            "mail", { DERWriter.implicit(1, Array("a\($0)@example.com".utf8)) },
            { DERWriter.implicit(1, Array("a\($0)@example.com".utf8)) }
        ),
        (
            "URIs", { DERWriter.implicit(6, Array("https://host\($0).example.com/".utf8)) },
            {
                DERWriter.implicit(6, Array("host\($0).example.com".utf8))
            }
        ),
        (
            "directory names", { DERWriter.explicit(4, CertificateTemplate.name("name \($0)")) },
            {
                DERWriter.explicit(4, CertificateTemplate.name("name \($0)"))
            }
        ),
    ]

    private static let longName = (0..<3).map { _ in String(repeating: "a", count: 60) }.joined(separator: ".") + "."

    @Test("2,048 name constraints on 2,048 names of each kind are checked in time", arguments: kinds.map(\.0))
    func constraints(_ kind: String) throws {
        let (_, name, constraint) = try #require(Self.kinds.first { $0.0 == kind })
        let names = Self.names((0..<2_048).map(name) + [Self.dns("example.com")])
        for tag in [0, 1] as [UInt8] {
            let list = (2_048..<4_096).flatMap { DERWriter.sequence(constraint($0)) }
            let constraints = CertificateTemplate.extension(
                "2.5.29.30", critical: true, DERWriter.sequence(DERWriter.explicit(tag, list)))
            let rule = try refusal(
                leaf: leaf { $0.extensions = [names] }, intermediate: issuer([constraints]), "\(kind), \(tag)")
            #expect(rule == .budget || tag == 0 && rule == .nameConstraints, "\(tag)")
        }
    }

    @Test(
        "Ten thousand extensions, usages, policies or locations, and five thousand attributes, are checked in time",
        .long)
    func manyParts() throws {
        let identifiers = (0..<Self.count).map { DERWriter.identifier("1.2.3.\($0 + 1)") }
        let usages = CertificateTemplate.extension("2.5.29.37", DERWriter.element(0x30, identifiers.flatMap { $0 }))
        let policies = CertificateTemplate.extension(
            "2.5.29.32", DERWriter.element(0x30, identifiers.flatMap { DERWriter.sequence($0) }))
        let mappings = CertificateTemplate.extension(
            "2.5.29.33",
            DERWriter.element(0x30, identifiers.flatMap { DERWriter.sequence($0, DERWriter.identifier("1.2.4")) }))
        let uri = DERWriter.implicit(6, Array("http://a.example/".utf8))
        let points = CertificateTemplate.extension(
            "2.5.29.31",
            DERWriter.element(
                0x30,
                (0..<Self.count).flatMap { _ in DERWriter.sequence(DERWriter.explicit(0, DERWriter.explicit(0, uri))) })
        )
        let access = CertificateTemplate.extension(
            "1.3.6.1.5.5.7.1.1",
            DERWriter.element(
                0x30,
                (0..<Self.count).flatMap { _ in DERWriter.sequence(DERWriter.identifier("1.3.6.1.5.5.7.48.1"), uri) }))
        let extensions = (0..<Self.count).map { CertificateTemplate.extension("1.2.3.\($0 + 1)", [5, 0]) }
        let twice = (0..<Self.count).map { _ in CertificateTemplate.extension("1.2.3.4", [5, 0]) }
        let own = Self.names([Self.dns("example.com")])
        for (what, parts) in [
            ("usages", [usages]), ("policies", [policies]), ("mappings", [mappings]), ("distribution points", [points]),
            ("access", [access]),
            ("extensions", extensions), ("one extension", twice),
        ] {
            _ = try refusal(leaf: leaf { $0.extensions = [own] + parts }, intermediate: issuer(), "\(what) of the leaf")
            _ = try refusal(
                leaf: leaf { $0.extensions = [own, policies] }, intermediate: issuer(parts), "\(what) of the issuer")
        }
        let attribute = DERWriter.sequence(DERWriter.identifier("2.5.4.3"), DERWriter.utf8("a"))
        let several = { (count: Int) in DERWriter.element(0x30, (0..<count).flatMap { _ in DERWriter.set(attribute) }) }
        let one = { (count: Int) in DERWriter.sequence(DERWriter.element(0x31, (0..<count).flatMap { _ in attribute }))
        }
        for (what, name) in [("names", several), ("attributes of a name", one)] {
            _ = try refusal(leaf: leaf { $0.subject = name(Self.count / 2) }, intermediate: issuer(), what)
            let half = name(Self.count / 4)
            _ = try refusal(
                leaf: leaf { ($0.subject, $0.issuer) = (half, half) }, intermediate: issuer(), "\(what) of both")
        }
    }

    @Test("Numbers, identifiers, keys and signatures of a hundred thousand bytes are checked in time")
    func longParts() throws {
        let long = [UInt8](repeating: 0x81, count: 100_000)
        let identifier = DERWriter.element(0x06, [0x2A] + long + [0x01])
        let modulus = DERWriter.sequence(DERWriter.element(0x02, [0x00] + long), DERWriter.integer(65_537))
        let rsa = DERWriter.sequence(
            DERWriter.sequence(DERWriter.identifier("1.2.840.113549.1.1.1"), [5, 0]), DERWriter.bits(modulus))
        let cases: [(String, (inout CertificateTemplate) -> Void)] = [
            ("a serial number", { $0.serialNumber = DERWriter.element(0x02, long) }),
            (
                "an extension's identifier",
                { $0.extensions = [DERWriter.sequence(identifier, DERWriter.octets([5, 0]))] }
            ),
            (
                "an attribute's identifier",
                {
                    $0.subject = DERWriter.sequence(DERWriter.set(DERWriter.sequence(identifier, DERWriter.utf8("a"))))
                }
            ),
            ("a key of RSA", { $0.publicKey = rsa }),
            (
                "a host name",
                { $0.extensions = [Self.names([DERWriter.implicit(2, [UInt8](repeating: 0x61, count: 100_000))])] }
            ),
            (
                "labels of a host name",
                { $0.extensions = [Self.names([Self.dns(String(repeating: "a.", count: 50_000) + "com")])] }
            ),
            ("spaces", { $0.subject = CertificateTemplate.name(String(repeating: " a", count: 50_000)) }),
        ]
        for (what, change) in cases {
            _ = try refusal(leaf: leaf(change), intermediate: issuer(), what)
            var name: [UInt8] = []
            let above = try Self.intermediate.bytes(by: Self.root) {
                change(&$0)
                name = $0.subject
            }
            _ = try refusal(leaf: leaf { $0.issuer = name }, intermediate: above, "\(what) of the issuer")
        }
    }

    @Test("Times that do not exist are not read; extreme times are refused by a rule")
    func times() throws {
        let none = [
            "00000101000000Z", "20260230000000Z", "20261301000000Z", "20260101250000Z", "20260101000060Z",
            "20260101000000",
            "99991231235959Z",
        ]
        for text in none {
            let time = CertificateTemplate.time(text)
            for (isEnd, der) in [(false, try leaf { $0.notBefore = time }), (true, try leaf { $0.notAfter = time })] {
                let rule = try refusal(leaf: der, intermediate: issuer(), text)
                // Only the last one is a valid time.
                #expect(((try? Certificate(der: der)) != nil) == (text == none.last), "\(text)")
                if text == none.last { #expect(rule == (isEnd ? .validityPeriod : .notYetValid)) }
            }
        }
    }

    /// A CRL with these entries and extensions, signed by the root.
    private func list(_ entries: [UInt8], extensions: [[UInt8]] = []) throws -> [UInt8] {
        let time = CertificateTemplate.time("20260101000000Z")
        let body = DERWriter.sequence(
            DERWriter.integer(1), CertificateTemplate.ecdsaWithSHA256, CertificateTemplate.name("root"), time,
            CertificateTemplate.time("20300101000000Z"), DERWriter.element(0x30, entries),
            extensions.isEmpty ? [] : DERWriter.explicit(0, DERWriter.element(0x30, extensions.flatMap { $0 })))
        let signature = try Self.root.key.signature(for: Data(body)).derRepresentation
        return DERWriter.sequence(body, CertificateTemplate.ecdsaWithSHA256, DERWriter.bits(Array(signature)))
    }

    @Test("A CRL with an entry that a lookup would miss is refused; only a delta CRL removes a revocation")
    func entries() throws {
        let time = CertificateTemplate.time("20260101000000Z")
        for number in [[0x02, 0x02, 0x00, 0x7F], [0x02, 0x00], [0x02, 0x02, 0xFF, 0x80]] as [[UInt8]] {
            let der = try list(DERWriter.sequence(number, time))
            #expect(throws: CertificateError.self) { try CertificateRevocationList(der: der) }
        }
        let root = try Self.root.certificate(by: Self.root) { $0.extensions = nil }
        let leaf = try Self.server.leaf(by: Self.root) { $0.serialNumber = DERWriter.integer(0x7F) }
        let removed = DERWriter.sequence(CertificateTemplate.extension("2.5.29.21", DERWriter.element(0x0A, [8])))
        let entry = DERWriter.sequence(DERWriter.integer(0x7F), time, removed)
        let whole = try CertificateRevocationList(der: list(entry))
        let delta = CertificateTemplate.extension("2.5.29.27", critical: true, DERWriter.integer(1))
        let changes = try CertificateRevocationList(der: list(entry, extensions: [delta]))
        if case .revoked = whole.status(of: leaf, issuer: root, at: 1_780_000_000) {
        } else {
            Issue.record("expected revoked")
        }
        #expect(
            changes.status(of: leaf, issuer: root, at: 1_780_000_000) == .unknown("the CRL is a delta CRL"))
        // A CRL may be up to five minutes newer than the validation time.
        let start = 1_767_225_600.0
        if case .revoked = whole.status(of: leaf, issuer: root, at: start - 299) {
        } else {
            Issue.record("expected revoked, within the clock tolerance")
        }
        if case .unknown = whole.status(of: leaf, issuer: root, at: start - 301) {
        } else {
            Issue.record("expected unknown, outside the clock tolerance")
        }
    }

    /// An OCSP response that the certificate is revoked, signed with this key by the name
    /// "responder".
    private func response(
        about leaf: Certificate, of issuer: Certificate, key: P256.Signing.PrivateKey, _ certificates: [Certificate]
    )
        throws -> [UInt8]
    {
        let time = DERWriter.element(0x18, Array("20260101000000Z".utf8))
        let hashes = [Array(issuer.subject.der), Array(issuer.publicKey.key)].flatMap {
            DERWriter.octets(Array(Insecure.SHA1.hash(data: $0)))
        }
        let identifier = DERWriter.sequence(
            DERWriter.sequence(DERWriter.identifier("1.3.14.3.2.26"), [5, 0]), hashes,
            DERWriter.element(0x02, Array(leaf.serialNumber)))
        let answer = DERWriter.sequence(
            identifier, DERWriter.explicit(1, time), time,
            DERWriter.explicit(0, DERWriter.element(0x18, Array("20300101000000Z".utf8))))
        let body = DERWriter.sequence(
            DERWriter.explicit(1, CertificateTemplate.name("responder")), time, DERWriter.sequence(answer))
        let basic = DERWriter.sequence(
            body, CertificateTemplate.ecdsaWithSHA256,
            DERWriter.bits(Array(try key.signature(for: Data(body)).derRepresentation)),
            DERWriter.explicit(0, DERWriter.element(0x30, certificates.flatMap(\.der))))
        let typed = DERWriter.sequence(DERWriter.identifier("1.3.6.1.5.5.7.48.1.1"), DERWriter.octets(basic))
        return DERWriter.sequence(DERWriter.element(0x0A, [0]), DERWriter.explicit(0, typed))
    }

    @Test("At most two authorized responders of an OCSP response are verified")
    func delegates() throws {
        let (responder, unrelatedIssuer) = (Issuer("responder"), Issuer("root"))
        let answers = CertificateTemplate.extension(
            "2.5.29.37", DERWriter.sequence(DERWriter.identifier("1.3.6.1.5.5.7.3.9")))
        let named = try responder.leaf(by: Self.root) { $0.extensions = [answers] }
        // With the root's name, but not signed by its key.
        let forged = try Issuer("responder").leaf(by: unrelatedIssuer) { $0.extensions = [answers] }
        let (root, leaf) = (try Self.root.certificate(by: Self.root), try Self.server.leaf(by: Self.root))
        for (claiming, isRevoked) in [
            ([named], true), ([forged, named], true), ([forged, forged, named], false), ([forged], false),
        ] {
            let response = try OCSPResponse(der: response(about: leaf, of: root, key: responder.key, claiming))
            let status = response.status(of: leaf, issuer: root, at: 1_780_000_000)
            if case .revoked = status {
                #expect(isRevoked, "\(claiming.count)")
            } else {
                #expect(!isRevoked, "\(claiming.count): \(status)")
            }
        }
    }

    @Test("SEQUENCEs of a million elements, and fields as long as a CRL, are refused in time")
    func wideLists() throws {
        let null = [UInt8](repeating: 0, count: 2_000_000).enumerated().map {
            $0.offset.isMultiple(of: 2) ? UInt8(5) : 0
        }
        let wide = CertificateError("a SEQUENCE has more than 64 elements")
        let long = CertificateError("a field of a CRL is longer than 64 KiB")
        for (der, error) in [
            (DERWriter.element(0x30, null), wide),
            (
                DERWriter.sequence(
                    DERWriter.element(0x30, null), CertificateTemplate.ecdsaWithSHA256, DERWriter.bits([1])), wide
            ),
            (DERWriter.sequence(DERWriter.sequence(), DERWriter.element(0x30, null), [5, 0]), long),
        ] {
            _ = TimeLimit.within { #expect(throws: error) { try CertificateRevocationList(der: der) } }
        }
        let answer = DERWriter.element(0x30, null)
        _ = TimeLimit.within { #expect(throws: CertificateError.self) { try OCSPResponse(der: answer) } }
    }

    @Test("A CRL of a hundred thousand entries is read in ten time limits, and searched in at most twice that time")
    func longList() throws {
        let time = CertificateTemplate.time("20260101000000Z")
        let entries = (1...100_000).flatMap { DERWriter.sequence(DERWriter.integer($0 * 7_919), time) }
        let number = CertificateTemplate.extension("2.5.29.20", DERWriter.integer(1))
        let der = try list(entries, extensions: [number])
        var start = ThreadTime.now
        let list = try TimeLimit.within(10, "reading") { try CertificateRevocationList(der: der) }
        let reading = ThreadTime.now - start
        #expect(list.count == 100_000)
        let root = try Self.root.certificate(by: Self.root) { $0.extensions = nil }
        for (serialNumber, isRevoked) in [(7_919 * 99_999, true), (7_919 * 99_999 + 1, false)] {
            let leaf = try Self.server.leaf(by: Self.root) { $0.serialNumber = DERWriter.integer(serialNumber) }
            start = ThreadTime.now
            let status = list.status(of: leaf, issuer: root, at: 1_780_000_000)
            let searching = ThreadTime.now - start
            #expect(searching < 2 * reading, "searched in \(searching) s, read in \(reading) s")
            if case .revoked = status {
                #expect(isRevoked)
            } else {
                #expect(!isRevoked && status == .good(until: 1_893_456_000))
            }
        }
    }
}
