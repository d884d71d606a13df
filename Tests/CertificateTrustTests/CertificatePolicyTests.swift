// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CertificateTrust

/// RFC 5280, section 6.1: a policy that a CA requires must be valid down to the leaf.
@Suite("Certificate policies")
struct CertificatePolicyTests {
    private static let root = Issuer("root")
    private static let upper = Issuer("upper")
    private static let lower = Issuer("lower")
    private static let server = Issuer("server")

    /// The policy extensions of one certificate.
    struct Statement: Sendable, CustomTestStringConvertible {
        var policies: [String] = []
        var mappings: [(String, String)] = []
        var explicit: UInt8?
        var mapping: UInt8?
        var any: UInt8?

        var testDescription: String { "\(policies) \(mappings) \(explicit ?? 99) \(mapping ?? 99) \(any ?? 99)" }

        var extensions: [[UInt8]] {
            var all: [[UInt8]] = []
            func add(_ identifier: String, critical: Bool = false, _ parts: [[UInt8]]) {
                let value = DERWriter.element(0x30, parts.flatMap { $0 })
                all.append(CertificateTemplate.extension(identifier, critical: critical, value))
            }
            if !policies.isEmpty {
                add("2.5.29.32", policies.map { DERWriter.sequence(DERWriter.identifier(Self.name($0))) })
            }
            if !mappings.isEmpty {
                add(
                    "2.5.29.33",
                    mappings.map {
                        DERWriter.sequence(DERWriter.identifier(Self.name($0.0)), DERWriter.identifier(Self.name($0.1)))
                    })
            }
            if explicit != nil || mapping != nil {
                let parts = [
                    explicit.map { DERWriter.implicit(0, [$0]) } ?? [],
                    mapping.map { DERWriter.implicit(1, [$0]) } ?? [],
                ]
                add("2.5.29.36", critical: true, parts)
            }
            if let any {
                all.append(CertificateTemplate.extension("2.5.29.54", critical: true, DERWriter.integer(Int(any))))
            }
            return all
        }

        private static func name(_ letter: String) -> String {
            letter == "any" ? "2.5.29.32.0" : "1.2.3.\(letter.unicodeScalars.first?.value ?? 0)"
        }
    }

    @Test(
        "A required policy must be valid for the whole chain",
        arguments: [
            // No policy is required.
            (Statement(), Statement(), Statement(), true),
            (Statement(policies: ["a"]), Statement(policies: ["b"]), Statement(policies: ["c"]), true),
            // A policy is required immediately, of every certificate.
            (Statement(policies: ["a"], explicit: 0), Statement(policies: ["a"]), Statement(policies: ["a"]), true),
            (Statement(policies: ["a"], explicit: 0), Statement(policies: ["a"]), Statement(policies: ["b"]), false),
            (Statement(policies: ["a"], explicit: 0), Statement(policies: ["a"]), Statement(), false),
            (Statement(policies: ["a"], explicit: 0), Statement(), Statement(policies: ["a"]), false),
            (
                Statement(policies: ["a", "b"], explicit: 0), Statement(policies: ["b", "c"]),
                Statement(policies: ["b"]), true
            ),
            (
                Statement(policies: ["a", "b"], explicit: 0), Statement(policies: ["b", "c"]),
                Statement(policies: ["c"]), false
            ),
            // Required after some more certificates, or by the leaf itself.
            (Statement(explicit: 3), Statement(), Statement(), true),
            (Statement(explicit: 2), Statement(), Statement(), false),
            (Statement(), Statement(), Statement(explicit: 0), false),
            (Statement(), Statement(), Statement(explicit: 1), true),
            (
                Statement(policies: ["a"]), Statement(policies: ["a"]), Statement(policies: ["a"], explicit: 0), true
            ),
            // anyPolicy matches all policies unless it is inhibited.
            (Statement(policies: ["any"], explicit: 0), Statement(policies: ["any"]), Statement(policies: ["c"]), true),
            (Statement(policies: ["a"], explicit: 0), Statement(policies: ["any"]), Statement(policies: ["a"]), true),
            (Statement(policies: ["a"], explicit: 0), Statement(policies: ["any"]), Statement(policies: ["b"]), false),
            (
                Statement(policies: ["a"], explicit: 0, any: 0), Statement(policies: ["any"]),
                Statement(policies: ["a"]), false
            ),
            (
                Statement(policies: ["a"], explicit: 0, any: 1), Statement(policies: ["any"]),
                Statement(policies: ["a"]), true
            ),
            (
                Statement(policies: ["a"], explicit: 0, any: 1), Statement(policies: ["a"]),
                Statement(policies: ["any"]), false
            ),
            // One policy mapped to another, unless mapping is inhibited.
            (
                Statement(policies: ["a"], mappings: [("a", "b")], explicit: 0), Statement(policies: ["b"]),
                Statement(policies: ["b"]),
                true
            ),
            (
                Statement(policies: ["a"], mappings: [("a", "b")], explicit: 0), Statement(policies: ["a"]),
                Statement(policies: ["a"]),
                false
            ),
            (
                Statement(policies: ["a"], explicit: 0, mapping: 0), Statement(policies: ["a"], mappings: [("a", "b")]),
                Statement(policies: ["b"]), false
            ),
            (
                Statement(policies: ["a"], explicit: 0, mapping: 1), Statement(policies: ["a"], mappings: [("a", "b")]),
                Statement(policies: ["b"]), true
            ),
            (
                Statement(policies: ["any"], mappings: [("a", "b")], explicit: 0), Statement(policies: ["b"]),
                Statement(policies: ["b"]),
                true
            ),
        ])
    func required(_ upper: Statement, _ lower: Statement, _ leaf: Statement, _ isAccepted: Bool) throws {
        let issuing = [Issuer.authority, Issuer.signsCertificates]
        let anchor = try Self.root.certificate(by: Self.root)
        let above = try Self.upper.certificate(by: Self.root) { $0.extensions = issuing + upper.extensions }
        let below = try Self.lower.certificate(by: Self.upper) { $0.extensions = issuing + lower.extensions }
        let end = try Self.server.leaf(by: Self.lower) { $0.extensions? += leaf.extensions }
        let verdict = ChainBuilder.chain(
            for: end, intermediates: CertificatePool([above, below]), anchors: CertificatePool([anchor]),
            at: 1_780_000_000)
        #expect(verdict.failure?.rule == (isAccepted ? nil : .certificatePolicy))
    }

    @Test("Policy mappings from or to anyPolicy, and empty mappings, are defects")
    func forms() throws {
        for mappings in [[("any", "b")], [("a", "any")]] {
            let certificate = try Self.upper.certificate(by: Self.root) {
                $0.extensions? += Statement(policies: ["a"], mappings: mappings).extensions
            }
            #expect(certificate.defects.count == 1 && certificate.defects[0].contains("2.5.29.33"))
        }
        let empty = CertificateTemplate.extension("2.5.29.33", DERWriter.sequence())
        #expect(try Self.upper.certificate(by: Self.root) { $0.extensions? += [empty] }.defects.count == 1)
    }
}
