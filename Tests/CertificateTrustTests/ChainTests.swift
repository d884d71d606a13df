// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import KeychainTesting
import Testing

@testable import CertificateTrust

/// A chain is found if there is one, and each rule refuses a chain that breaks it.
@Suite("Chains")
struct ChainTests {
    private static let root = Issuer("root")
    private static let intermediate = Issuer("intermediate")
    private static let server = Issuer("server")
    /// In the middle of 2026.
    private static let validationTime = 1_780_000_000.0

    private static func verdict(
        _ leaf: Certificate, _ intermediates: [Certificate] = [], anchors: [Certificate],
        at validationTime: Double = validationTime
    ) -> ChainSearchResult {
        ChainBuilder.chain(
            for: leaf, intermediates: CertificatePool(intermediates), anchors: CertificatePool(anchors),
            at: validationTime)
    }

    /// The rule that a changed chain of three breaks, with the index of the certificate; nil if the
    /// chain is accepted.
    private static func broken(
        leaf: (inout CertificateTemplate) -> Void = { _ in },
        intermediate change: (inout CertificateTemplate) -> Void = { _ in },
        root changeRoot: (inout CertificateTemplate) -> Void = { _ in }, at validationTime: Double = validationTime
    ) throws -> String? {
        let verdict = verdict(
            try server.leaf(by: intermediate, leaf), [try intermediate.certificate(by: root, change)],
            anchors: [try root.certificate(by: root, changeRoot)], at: validationTime)
        if let chain = verdict.chain {
            #expect(chain.certificates.map(\.subject.description) == ["CN=server", "CN=intermediate", "CN=root"])
            return nil
        }
        return verdict.failure.map { "\($0.rule) \($0.index)" }
    }

    @Test("A valid chain is found with or without intermediates, in any order, among unrelated certificates")
    func accepted() throws {
        #expect(try Self.broken() == nil)
        let (root, other) = (Self.root, Issuer("other"))
        let anchor = try root.certificate(by: root)
        #expect(Self.verdict(try Self.server.leaf(by: root), anchors: [anchor]).chain?.certificates.count == 2)
        // The anchor itself is a chain.
        #expect(Self.verdict(anchor, anchors: [anchor]).chain?.certificates.count == 1)
        let intermediate = try Self.intermediate.certificate(by: root)
        let extra = try other.certificate(by: other)
        let leaf = try Self.server.leaf(by: Self.intermediate)
        #expect(
            Self.verdict(leaf, [extra, leaf, anchor, intermediate], anchors: [anchor]).chain?.certificates == [
                leaf, intermediate, anchor,
            ])
        // A trusted intermediate ends the chain.
        #expect(Self.verdict(leaf, anchors: [intermediate]).chain?.certificates == [leaf, intermediate])
    }

    @Test("Without an anchor, with another anchor, without an intermediate or self-signed, a leaf is not trusted")
    func untrusted() throws {
        let leaf = try Self.server.leaf(by: Self.intermediate)
        let anchor = try Self.root.certificate(by: Self.root)
        #expect(Self.verdict(leaf, anchors: []).failure?.rule == .untrusted)
        #expect(Self.verdict(leaf, anchors: [anchor]).failure?.rule == .untrusted)
        #expect(Self.verdict(try Self.server.leaf(by: Self.server), anchors: [anchor]).failure?.rule == .untrusted)
        // The right name with the wrong key.
        let sameNameIssuer = Issuer("root")
        #expect(
            Self.verdict(try Self.server.leaf(by: sameNameIssuer), anchors: [anchor]).failure?.rule == .keyIdentifier)
        let claiming = try Self.server.leaf(by: sameNameIssuer) {
            $0.keyIdentifiers = [Issuer.identifier(ofIssuer: Self.root.key)]
        }
        #expect(Self.verdict(claiming, anchors: [anchor]).failure?.rule == .signature)
        #expect(
            Self.verdict(
                try Self.server.leaf(by: sameNameIssuer), [try sameNameIssuer.certificate(by: sameNameIssuer)],
                anchors: [anchor]
            ).chain == nil)
    }

    @Test("A changed byte in the signed part or in the signature breaks the chain")
    func signature() throws {
        let anchor = try Self.root.certificate(by: Self.root)
        let der = try Self.server.leaf(by: Self.root).der
        var read = 0
        for index in stride(from: 4, to: der.count, by: 3) {
            var changed = der
            changed[index] ^= 0x04
            guard let leaf = try? Certificate(der: changed) else { continue }
            read += 1
            #expect(Self.verdict(leaf, anchors: [anchor]).chain == nil, "byte \(index)")
        }
        #expect(read > 20)
    }

    @Test("Every certificate must be valid, until the second of notAfter is over")
    func validity() throws {
        let (first, last) = ("20260101000000Z", "20261231235959Z")
        let (start, end) = (1_767_225_600.0, 1_798_761_599.0)
        func limits(_ template: inout CertificateTemplate) {
            (template.notBefore, template.notAfter) = (CertificateTemplate.time(first), CertificateTemplate.time(last))
        }
        for (validationTime, expected) in [
            (start - 0.001, "notYetValid"), (start, nil), (end, nil), (end + 0.5, nil), (end + 0.999, nil),
            (end + 1, "expired"),
        ] {
            #expect(try Self.broken(leaf: limits, at: validationTime) == expected.map { "\($0) 0" })
            #expect(try Self.broken(intermediate: limits, at: validationTime) == expected.map { "\($0) 1" })
            #expect(try Self.broken(root: limits, at: validationTime) == expected.map { "\($0) 2" })
        }
        // The explanation shows different times at the first invalid second.
        let leaf = try Self.server.leaf(by: Self.root) { limits(&$0) }
        let anchor = try Self.root.certificate(by: Self.root)
        let explanation = Self.verdict(leaf, anchors: [anchor], at: end + 1).failure?.explanation
        #expect(explanation == "expired at 2026-12-31T23:59:59Z; the validation time is 2027-01-01T00:00:00Z")
        #expect(try Self.broken(at: .infinity) == "expired 0")
        #expect(try Self.broken(at: -.infinity) == "notYetValid 0")
        #expect(try Self.broken(at: .nan) != nil)
    }

    @Test("An issuer must be a CA: not a leaf, not of version 1, and not without basic constraints")
    func authority() throws {
        let none = CertificateTemplate.extension("2.5.29.19", critical: true, DERWriter.sequence())
        #expect(try Self.broken(intermediate: { $0.extensions = [none, Issuer.signsCertificates] }) == "authority 1")
        #expect(try Self.broken(intermediate: { $0.extensions = [Issuer.signsCertificates] }) == "authority 1")
        #expect(try Self.broken(intermediate: { ($0.version, $0.extensions) = (nil, nil) }) == "authority 1")
        #expect(try Self.broken(intermediate: { ($0.version, $0.extensions) = (3, nil) }) == "authority 1")
        // An anchor of version 1 is accepted; one of version 3 must have the extension.
        #expect(try Self.broken(root: { ($0.version, $0.extensions) = (nil, nil) }) == nil)
        #expect(try Self.broken(root: { $0.extensions = [Issuer.signsCertificates] }) == "authority 2")
        #expect(try Self.broken(root: { $0.extensions = [none, Issuer.signsCertificates] }) == "authority 2")
    }

    @Test("An issuer's key usage must include keyCertSign, if it has a key usage")
    func keyUsage() throws {
        let signs = CertificateTemplate.extension("2.5.29.15", critical: true, DERWriter.bits([0x80], unused: 7))
        #expect(try Self.broken(intermediate: { $0.extensions = [Issuer.authority, signs] }) == "signingUsage 1")
        #expect(try Self.broken(root: { $0.extensions = [Issuer.authority, signs] }) == "signingUsage 2")
        #expect(try Self.broken(intermediate: { $0.extensions = [Issuer.authority] }) == nil)
    }

    @Test("The path length counts the intermediates below, except for self-issued ones")
    func pathLength() throws {
        func limit(_ length: Int) -> (inout CertificateTemplate) -> Void {
            { $0.extensions = [Issuer.authority(pathLength: length)] }
        }
        #expect(try Self.broken(intermediate: limit(0)) == nil)
        #expect(try Self.broken(root: limit(1)) == nil)
        #expect(try Self.broken(root: limit(0)) == "pathLength 2")
        // A self-issued certificate with a new key is in between.
        let renewed = Issuer("root")
        let leaf = try Self.server.leaf(by: renewed)
        let between = try renewed.certificate(by: Self.root)
        #expect(
            Self.verdict(leaf, [between], anchors: [try Self.root.certificate(by: Self.root, limit(0))]).chain?
                .certificates.count == 3)
    }

    @Test("An unsupported critical extension, or a malformed field, is refused in every certificate of the chain")
    func understood() throws {
        let unknown = CertificateTemplate.extension("1.2.3.4", critical: true, [0x05, 0x00])
        let harmless = CertificateTemplate.extension("1.2.3.4", [0x05, 0x00])
        let twice = [harmless, harmless]
        #expect(try Self.broken(leaf: { $0.extensions? += [unknown] }) == "unknownCriticalExtension 0")
        #expect(try Self.broken(intermediate: { $0.extensions? += [unknown] }) == "unknownCriticalExtension 1")
        #expect(try Self.broken(root: { $0.extensions? += [unknown] }) == "unknownCriticalExtension 2")
        #expect(try Self.broken(leaf: { $0.extensions? += [harmless] }) == nil)
        #expect(try Self.broken(leaf: { $0.extensions? += twice }) == "form 0")
        #expect(try Self.broken(intermediate: { $0.extensions? += twice }) == "form 1")
        #expect(try Self.broken(leaf: { $0.version = nil }) == "form 0")
    }

    @Test("Serial numbers must be positive and have at most 20 bytes; names must not be empty")
    func numbersAndNames() throws {
        let twenty = DERWriter.element(0x02, [0x7F] + [UInt8](repeating: 1, count: 19))
        let more = DERWriter.element(0x02, [0x00, 0x80] + [UInt8](repeating: 1, count: 19))
        #expect(try Self.broken(leaf: { $0.serialNumber = twenty }) == nil)
        #expect(try Self.broken(leaf: { $0.serialNumber = more }) == "serialNumber 0")
        #expect(try Self.broken(leaf: { $0.serialNumber = DERWriter.integer(0) }) == "serialNumber 0")
        #expect(try Self.broken(intermediate: { $0.serialNumber = DERWriter.integer(-1) }) == "serialNumber 1")
        #expect(try Self.broken(root: { $0.serialNumber = DERWriter.integer(0) }) == nil)
        let anchor = try Self.root.certificate(by: Self.root)
        for (number, expected) in [
            (DERWriter.integer(0), "its serial number must be positive, found 0"),
            (DERWriter.integer(-1), "its serial number must be positive, found a negative number"),
            (more, "its serial number must have at most 20 bytes, found 21"),
        ] {
            let failure = Self.verdict(
                try Self.server.leaf(by: Self.root) { $0.serialNumber = number }, anchors: [anchor]
            ).failure
            #expect(failure?.explanation == expected)
            #expect(failure.map { "\($0.rule.status)".contains("-67694") } == true)
        }
        let empty = CertificateTemplate.name("")
        let names = DERWriter.sequence(DERWriter.implicit(2, Array("example.com".utf8)))
        #expect(try Self.broken(leaf: { $0.subject = empty }) == "emptyName 0")
        let nameless = try Self.server.leaf(by: Self.root) {
            $0.subject = empty
            $0.extensions = [CertificateTemplate.extension("2.5.29.17", critical: true, names)]
        }
        #expect(Self.verdict(nameless, anchors: [anchor]).chain != nil)
    }

    @Test("Below an anchor that the program or the user has chosen, key identifiers may be absent, but not be wrong")
    func identifiersOfChosenAnchors() throws {
        let (wrong, above) = (P256.Signing.PrivateKey(), Issuer.identifier(ofIssuer: Self.root.key))
        let serialOnly = CertificateTemplate.extension(
            "2.5.29.35",
            DERWriter.sequence(
                DERWriter.explicit(1, DERWriter.explicit(4, CertificateTemplate.name("root"))),
                DERWriter.element(0x82, Array(DERWriter.integer(0x1234_5678).dropFirst(2)))))
        let cases: [(leaf: [[UInt8]]?, intermediate: [[UInt8]]?, isAccepted: Bool)] = [
            ([], nil, true), (nil, [], true), ([], [], true), (nil, [above], true), ([serialOnly], nil, true),
            (nil, [Issuer.identifier(Self.intermediate.key)], true),
            ([Issuer.identifier(ofIssuer: wrong)], nil, false), (nil, [Issuer.identifier(wrong), above], false),
            (nil, [Issuer.identifier(ofIssuer: wrong)], false),
        ]
        let (root, namesake) = (
            try Self.root.certificate(by: Self.root), try Issuer("root").certificate(by: Issuer("root"))
        )
        for each in cases {
            let leaf = try Self.server.leaf(by: Self.intermediate) {
                if let identifiers = each.leaf { $0.keyIdentifiers = identifiers }
            }
            let intermediate = try Self.intermediate.certificate(by: Self.root) {
                if let identifiers = each.intermediate { $0.keyIdentifiers = identifiers }
            }
            func failure(chosen: Set<Certificate>) -> TrustFailure? {
                ChainBuilder.chain(
                    for: leaf, intermediates: CertificatePool([intermediate]),
                    anchors: CertificatePool([root, namesake]),
                    chosen: chosen, at: Self.validationTime
                ).failure
            }
            #expect(failure(chosen: [root]) == nil || !each.isAccepted, "\(each)")
            #expect(failure(chosen: [root])?.rule == (each.isAccepted ? nil : .keyIdentifier), "\(each)")
            #expect(failure(chosen: [])?.rule == .keyIdentifier && failure(chosen: [namesake])?.rule == .keyIdentifier)
        }
    }

    @Test("A chain that ends at an issuer that does not fit is completed to its anchor, and is not trusted")
    func completedToAnchor() throws {
        let anchor = try Self.root.certificate(by: Self.root)
        let wrong = P256.Signing.PrivateKey()
        let notAuthority = try Self.intermediate.certificate(by: Self.root) { $0.extensions = nil }
        let other = try Issuer("intermediate").certificate(by: Self.root) {
            $0.keyIdentifiers = [Issuer.identifier(Self.intermediate.key), Issuer.identifier(ofIssuer: Self.root.key)]
        }
        let leaf = try Self.server.leaf(by: Self.intermediate)
        let cases: [(leaf: Certificate, intermediate: Certificate, rule: TrustRule)] = [
            (leaf, notAuthority, .authority), (leaf, other, .signature),
            (
                try Self.server.leaf(by: Self.intermediate) {
                    $0.keyIdentifiers = [Issuer.identifier(ofIssuer: wrong)]
                },
                try Self.intermediate.certificate(by: Self.root), .keyIdentifier
            ),
        ]
        for each in cases {
            let result = Self.verdict(each.leaf, [each.intermediate], anchors: [anchor])
            #expect(result.chain == nil && result.failure?.rule == each.rule)
            #expect(
                result.best?.certificates == [each.leaf, each.intermediate, anchor]
                    && result.best?.reachesAnchor == false)
            // Without the anchor, there is nothing to complete it with.
            let alone = Self.verdict(each.leaf, [each.intermediate], anchors: [])
            #expect(alone.best?.certificates.last != anchor)
        }
    }

    @Test("Key identifiers must match between certificate and issuer; an anchor may have none")
    func keyIdentifiers() throws {
        let other = P256.Signing.PrivateKey()
        let (own, above) = (Issuer.identifier(Self.intermediate.key), Issuer.identifier(ofIssuer: Self.root.key))
        #expect(try Self.broken(leaf: { $0.keyIdentifiers = [] }) == "keyIdentifier 0")
        #expect(
            try Self.broken(leaf: { $0.keyIdentifiers = [Issuer.identifier(ofIssuer: Self.intermediate.key)] }) == nil)
        #expect(
            try Self.broken(leaf: { $0.keyIdentifiers = [Issuer.identifier(ofIssuer: other)] }) == "keyIdentifier 1")
        #expect(try Self.broken(intermediate: { $0.keyIdentifiers = [above] }) == "keyIdentifier 1")
        #expect(try Self.broken(intermediate: { $0.keyIdentifiers = [own] }) == "keyIdentifier 1")
        #expect(
            try Self.broken(intermediate: { $0.keyIdentifiers = [Issuer.identifier(other), above] })
                == "keyIdentifier 1")
        #expect(try Self.broken(root: { $0.keyIdentifiers = [] }) == nil)
        #expect(try Self.broken(root: { $0.keyIdentifiers = [Issuer.identifier(other)] }) == "keyIdentifier 2")
        // The issuer's issuer and serial number, if the identifier names them as well.
        func named(_ name: String, _ number: Int, withKey: Bool = true) -> (inout CertificateTemplate) -> Void {
            let key = Array(SHA256.hash(data: Self.intermediate.key.publicKey.x963Representation).prefix(20))
            let parts = [
                withKey ? DERWriter.implicit(0, key) : [],
                DERWriter.explicit(1, DERWriter.explicit(4, CertificateTemplate.name(name))),
                DERWriter.element(0x82, Array(DERWriter.integer(number).dropFirst(2))),
            ]
            return {
                $0.keyIdentifiers = [
                    CertificateTemplate.extension("2.5.29.35", DERWriter.element(0x30, parts.flatMap { $0 }))
                ]
            }
        }
        #expect(try Self.broken(leaf: named("root", 0x1234_5678)) == nil)
        #expect(try Self.broken(leaf: named("other", 0x1234_5678)) == "keyIdentifier 1")
        #expect(try Self.broken(leaf: named("root", 0x1234_5679)) == "keyIdentifier 1")
        #expect(try Self.broken(leaf: named("root", 0x1234_5678, withKey: false)) == "keyIdentifier 0")
    }

    @Test("Extensions have the required criticality; a certificate with keyCertSign must be a CA")
    func criticality() throws {
        func critical(_ identifier: String, _ value: [UInt8], _ isCritical: Bool) -> (inout CertificateTemplate) -> Void
        {
            { $0.extensions? += [CertificateTemplate.extension(identifier, critical: isCritical, value)] }
        }
        let access = DERWriter.sequence(
            DERWriter.sequence(
                DERWriter.identifier("1.3.6.1.5.5.7.48.1"), DERWriter.implicit(6, Array("http://a".utf8))))
        let constraints = DERWriter.sequence(DERWriter.implicit(1, [0]))
        for (identifier, value, expected) in [
            ("1.3.6.1.5.5.7.1.1", access, false), ("2.5.29.36", constraints, true),
            ("2.5.29.54", DERWriter.integer(9), true),
        ] {
            #expect(try Self.broken(intermediate: critical(identifier, value, expected)) == nil)
            #expect(try Self.broken(intermediate: critical(identifier, value, !expected)) == "form 1")
            #expect(try Self.broken(root: critical(identifier, value, !expected)) == nil)
        }
        let own = DERWriter.octets([1])
        #expect(try Self.broken(leaf: critical("2.5.29.14", own, true)) == "form 0")
        // A key identifier must not be critical, even in an anchor.
        let above = DERWriter.sequence(DERWriter.implicit(0, Array(Issuer.identifier(Self.root.key).suffix(20))))
        for (identifier, value) in [
            ("2.5.29.14", Array(Issuer.identifier(Self.root.key).suffix(22))), ("2.5.29.35", above),
        ] {
            for isCritical in [false, true] {
                let extended = { (template: inout CertificateTemplate) in
                    template.keyIdentifiers = [CertificateTemplate.extension(identifier, critical: isCritical, value)]
                }
                #expect(try Self.broken(root: extended) == (isCritical ? "form 2" : nil), "\(identifier)")
            }
        }
        let nonCritical = CertificateTemplate.extension("2.5.29.19", DERWriter.sequence(DERWriter.boolean(true)))
        #expect(
            try Self.broken(intermediate: { $0.extensions = [nonCritical, Issuer.signsCertificates] }) == "authority 1")
        #expect(try Self.broken(root: { $0.extensions = [nonCritical, Issuer.signsCertificates] }) == nil)
        #expect(try Self.broken(leaf: { $0.extensions = [Issuer.signsCertificates] }) == "signingUsage 0")
    }

    @Test("A weak or unsupported key is refused in every certificate, even if it signed nothing")
    func keys() throws {
        let folder = try OpenSSL()
        func key(_ words: String...) throws -> [UInt8] {
            let made = try folder.file(folder.output(["genpkey"] + words))
            return try folder.output(["pkey", "-in", made, "-pubout", "-outform", "DER"])
        }
        func rsa(_ bits: Int) throws -> [UInt8] { try key("-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:\(bits)") }
        func curve(_ name: String) throws -> [UInt8] {
            try key("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(name)")
        }
        for accepted in [try rsa(2048), try curve("P-384"), try curve("P-521")] {
            #expect(try Self.broken(leaf: { $0.publicKey = accepted }) == nil)
        }
        for weak in [
            try rsa(1024), try rsa(2047), try rsa(2050), try curve("secp224r1"), try curve("secp256k1"),
            try key("-algorithm", "ED25519"),
        ] {
            #expect(try Self.broken(leaf: { $0.publicKey = weak }) == "key 0")
            let anchor = try Self.server.leaf(by: Self.root) { $0.publicKey = weak }
            #expect(Self.verdict(anchor, anchors: [anchor]).failure?.rule == .key)
        }
    }

    @Test("All failures of a complete chain are reported, before those that only ended an attempt")
    func everything() throws {
        let unknown = CertificateTemplate.extension("1.2.3.4", critical: true, [0x05, 0x00])
        let leaf = try Self.server.leaf(by: Self.intermediate) {
            $0.notAfter = CertificateTemplate.time("20260101000000Z")
            $0.extensions? += [unknown]
        }
        let namesake = try Issuer("intermediate").certificate(by: Self.root)
        let verdict = Self.verdict(
            leaf, [namesake, try Self.intermediate.certificate(by: Self.root)],
            anchors: [try Self.root.certificate(by: Self.root)])
        let best = try #require(verdict.best)
        #expect(best.reachesAnchor && best.certificates.count == 3)
        #expect(best.failures.map(\.rule) == [.unknownCriticalExtension, .expired])
        #expect(verdict.attempts.contains { $0.failure.rule == .keyIdentifier && !$0.reachesAnchor })
    }

    @Test("Weak and unknown signature algorithms are refused, whether the signature is valid or not")
    func algorithms() throws {
        for identifier in [
            "1.2.840.10045.4.1", "1.2.840.113549.1.1.5", "1.2.840.113549.1.1.10", "1.3.101.112", "1.2.3.4",
        ] {
            let algorithm = DERWriter.sequence(DERWriter.identifier(identifier))
            #expect(
                try Self.broken(leaf: { ($0.innerAlgorithm, $0.outerAlgorithm) = (algorithm, algorithm) })
                    == "algorithm 0")
        }
        // ECDSA must not have parameters, not even NULL.
        let withNull = DERWriter.sequence(DERWriter.identifier("1.2.840.10045.4.3.2"), [0x05, 0x00])
        #expect(
            try Self.broken(leaf: { ($0.innerAlgorithm, $0.outerAlgorithm) = (withNull, withNull) }) == "algorithm 0")
        let another = DERWriter.sequence(DERWriter.identifier("1.2.840.10045.4.3.3"))
        #expect(try Self.broken(leaf: { $0.innerAlgorithm = another }) == "form 0")
    }

    // MARK: Search

    @Test("If one path breaks a rule, another is tried: past expired, same-name and cross-signed certificates")
    func alternatives() throws {
        let anchor = try Self.root.certificate(by: Self.root)
        let expired = try Self.intermediate.certificate(by: Self.root) {
            $0.notAfter = CertificateTemplate.time("20260101000000Z")
        }
        let good = try Self.intermediate.certificate(by: Self.root)
        let namesake = try Issuer("intermediate").certificate(by: Self.root)
        let unrelatedIssuer = Issuer("stranger")
        let cross = try Self.intermediate.certificate(by: unrelatedIssuer)
        let leaf = try Self.server.leaf(by: Self.intermediate)
        for pool in [[expired, good], [namesake, good], [cross, good], [cross, namesake, expired, good]] {
            for order in [pool, pool.reversed()] {
                #expect(Self.verdict(leaf, order, anchors: [anchor]).chain?.certificates == [leaf, good, anchor])
            }
        }
        let verdict = Self.verdict(leaf, [namesake, expired, cross], anchors: [anchor])
        #expect(verdict.chain == nil && verdict.failure?.rule == .expired)
        #expect(verdict.attempts.count >= 2)
    }

    @Test("Another certificate with an anchor's name and key is refused with a reason")
    func reissued() throws {
        let anchor = try Self.root.certificate(by: Self.root)
        let other = try Self.root.certificate(by: Self.root) { $0.serialNumber = DERWriter.integer(99) }
        let verdict = Self.verdict(other, anchors: [anchor])
        #expect(verdict.chain == nil && verdict.failure?.rule == .untrusted && !verdict.attempts.isEmpty)
    }

    @Test("The search ends if two CAs sign each other, with and without an anchor")
    func circles() throws {
        let (one, two) = (Issuer("one"), Issuer("two"))
        let cycle = [try one.certificate(by: two), try two.certificate(by: one)]
        let leaf = try Self.server.leaf(by: one)
        let anchor = try Self.root.certificate(by: Self.root)
        #expect(Self.verdict(leaf, cycle, anchors: [anchor]).failure?.rule == .untrusted)
        let way = try two.certificate(by: Self.root)
        #expect(
            Self.verdict(leaf, cycle + [way], anchors: [anchor]).chain?.certificates == [leaf, cycle[0], way, anchor])
    }

    @Test("56 cross-signed intermediates without an anchor, and 64 with one name, are refused in time")
    func work() throws {
        let anchor = try Self.root.certificate(by: Self.root)
        // Two keys per level, each signed by both keys of the next level.
        let levels = (0..<15).map { level in [Issuer("level \(level)"), Issuer("level \(level)")] }
        var crossed: [Certificate] = []
        for (below, above) in zip(levels, levels.dropFirst()) {
            for subject in below { for issuer in above { crossed.append(try subject.certificate(by: issuer)) } }
        }
        #expect(crossed.count == 56)
        let leaf = try Self.server.leaf(by: levels[0][0])
        #expect(Self.refusal(of: leaf, crossed, anchor) == .untrusted)
        // They lead to the anchor's name, but not to its key.
        let sameNameIssuer = Issuer("root")
        let last = try levels[14].map { try $0.certificate(by: sameNameIssuer) }
        #expect(Self.refusal(of: leaf, crossed + last, anchor) != nil)
        let sameNameIssuers = try (0..<64).map { number in
            try Issuer("level 0").certificate(by: Self.root) { $0.serialNumber = DERWriter.integer(number + 1) }
        }
        #expect(Self.refusal(of: leaf, sameNameIssuers, anchor) == .keyIdentifier)
        let claiming = try (0..<64).map { number in
            try Issuer("level 0").certificate(by: Self.root) {
                ($0.serialNumber, $0.keyIdentifiers) = (
                    DERWriter.integer(number + 1),
                    [Issuer.identifier(levels[0][0].key), Issuer.identifier(ofIssuer: Self.root.key)]
                )
            }
        }
        #expect(Self.refusal(of: leaf, claiming, anchor) == .signature)
        // Certificates with one name and one key that are not CAs.
        let same = try (0..<64).map { number in
            try levels[0][0].certificate(by: Self.root) {
                ($0.serialNumber, $0.extensions) = (DERWriter.integer(number + 1), nil)
            }
        }
        #expect(Self.refusal(of: leaf, same, anchor) == .authority)
    }

    @Test("Hundreds of certificates with the same names, and a name of a megabyte, are refused in time")
    func largeInputs() throws {
        let anchor = try Self.root.certificate(by: Self.root)
        let long = DERWriter.sequence(
            DERWriter.set(
                DERWriter.sequence(
                    DERWriter.identifier("2.5.4.3"), DERWriter.utf8(String(repeating: "a", count: 1_000_000)))))
        let unrelatedIssuer = try Self.server.leaf(by: Self.intermediate) { $0.issuer = long }
        var verdict: ChainSearchResult?
        TimeLimit.within { verdict = Self.verdict(unrelatedIssuer, anchors: [anchor]) }
        #expect(verdict?.failure?.rule == .untrusted)
        #expect((verdict?.failure?.explanation.utf8.count ?? 0) < 2_000)
        let levels = (0..<8).map { level in [Issuer("level \(level)"), Issuer("level \(level)")] }
        var many: [Certificate] = []
        for (below, above) in zip(levels, levels.dropFirst()) {
            for subject in below { for issuer in above { many.append(try subject.certificate(by: issuer)) } }
        }
        many += try levels[7].map { try $0.certificate(by: Issuer("root")) }
        for number in 0..<500 {
            many.append(
                try levels[number % 8][0].certificate(by: Self.root) {
                    ($0.serialNumber, $0.extensions) = (DERWriter.integer(number + 1), nil)
                })
        }
        let leaf = try Self.server.leaf(by: levels[0][0])
        TimeLimit.within { verdict = Self.verdict(leaf, many, anchors: [anchor]) }
        #expect(verdict?.chain == nil)
        #expect((verdict?.attempts.count ?? 0) <= 201)
    }

    /// Returns the rule that refuses the leaf. It must be found in time.
    private static func refusal(of leaf: Certificate, _ intermediates: [Certificate], _ anchor: Certificate)
        -> TrustRule?
    {
        TimeLimit.within {
            let verdict = verdict(leaf, intermediates, anchors: [anchor])
            // Reading `best` also finds all other failures.
            return verdict.best == nil ? nil : verdict.failure?.rule
        }
    }
}
