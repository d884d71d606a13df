// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import CertificateTrust

/// NIST's Public Key Interoperability Test Suite; the names of its files tell the expected result,
/// and `make pkits` fetches it. Every certificate is evaluated with all CAs of the suite presented,
/// all its CRLs given, and revocation status required.
@Suite(
    "PKITS",
    .enabled(if: ProcessInfo.processInfo.environment["LATCHKEY_PKITS"] != nil, "make pkits fetches its certificates"))
struct PKITSTests {
    /// Certificates that must be refused although their names do not say so (section 4.8 of the
    /// suite).
    private static let alsoRefused = Set([4, 5, 7, 8, 9, 12].map { "DifferentPoliciesTest\($0)EE" })

    /// Certificates that the suite accepts and Latchkey refuses, by rule.
    private static let stricter: [TrustRule: Set<String>] = [
        // DSA is not supported.
        .key: ["ValidDSASignaturesTest4EE", "ValidDSAParameterInheritanceTest5EE"],
        // Basic constraints of a CA must be critical (RFC 5280, section 4.2.1.9).
        .authority: ["ValidbasicConstraintsNotCriticalTest4EE"],
        // Policy constraints must be critical (section 4.2.1.11).
        .form: [
            "AllCertificatesSamePoliciesTest10EE", "AllCertificatesSamePoliciesTest13EE",
            "AllCertificatesanyPolicyTest11EE",
            "AnyPolicyTest14EE", "OverlappingPoliciesTest6EE", "UserNoticeQualifierTest18EE",
            "ValidPolicyMappingTest1EE",
            "ValidPolicyMappingTest3EE", "ValidPolicyMappingTest5EE", "ValidPolicyMappingTest6EE",
            "ValidPolicyMappingTest9EE",
            "ValidPolicyMappingTest11EE", "ValidPolicyMappingTest12EE", "ValidPolicyMappingTest13EE",
            "ValidPolicyMappingTest14EE",
            "ValidSelfIssuedinhibitAnyPolicyTest7EE", "ValidSelfIssuedinhibitAnyPolicyTest9EE",
            "ValidinhibitAnyPolicyTest2EE",
            "inhibitAnyPolicyTest3EE",
        ],
        // A delta CRL does not remove a revocation.
        .revoked: ["ValiddeltaCRLTest5EE"],
        .revocationUnknown: [
            // CRLs must be signed by the key that signed the certificate, not by another key of the
            // issuer.
            "ValidBasicSelfIssuedCRLSigningKeyTest6EE", "ValidBasicSelfIssuedNewWithOldTest4EE",
            "ValidBasicSelfIssuedOldWithNewTest1EE",
            "ValidDNnameConstraintsTest19EE", "ValidSelfIssuedinhibitPolicyMappingTest7EE",
            "ValidSelfIssuedpathLenConstraintTest15EE",
            "ValidSelfIssuedpathLenConstraintTest17EE", "ValidSelfIssuedrequireExplicitPolicyTest6EE",
            "ValidSeparateCertificateandCRLKeysTest19EE",
            // CRLs must be from the certificate's issuer.
            "ValidIDPwithindirectCRLTest22EE", "ValidIDPwithindirectCRLTest24EE", "ValidIDPwithindirectCRLTest25EE",
            "ValidcRLIssuerTest28EE",
            "ValidcRLIssuerTest29EE", "ValidcRLIssuerTest30EE", "ValidcRLIssuerTest33EE",
            // CRLs must cover all reasons.
            "ValidonlySomeReasonsTest18EE", "ValidonlySomeReasonsTest19EE",
            // Distribution points must have full names.
            "ValiddistributionPointTest4EE", "ValiddistributionPointTest5EE", "ValiddistributionPointTest7EE",
        ],
    ]

    /// The rules that must refuse a certificate, by a part of its name; the first match counts. All
    /// others must be refused because of revocation.
    private static let meant: [(part: String, rules: [TrustRule])] = [
        ("BasicSelfIssuedCRLSigningKeyTest8", [.authority]), ("nameConstraints", [.nameConstraints]),
        ("MappingFromanyPolicy", [.form]),
        ("MappingToanyPolicy", [.form]), ("olic", [.certificatePolicy]), ("pathLen", [.pathLength]),
        ("CRLnextUpdate", [.revocationUnknown]),
        ("notAfter", [.expired]), ("notBefore", [.notYetValid]), ("cAFalse", [.authority]),
        ("MissingbasicConstraints", [.authority]),
        ("keyCertSignFalse", [.signingUsage]), ("NameChaining", [.untrusted]), ("CASignature", [.untrusted]),
        ("EESignature", [.signature]),
        ("NegativeSerial", [.serialNumber]), ("UnknownCriticalCertificate", [.unknownCriticalExtension]),
        ("Revoked", [.revoked]),
        ("LongSerial", [.revoked]), ("deltaCRLTest4", [.revoked]),
    ]

    @Test("Everything that the suite refuses is refused; other refusals are known")
    func suite() throws {
        let folder = try #require(ProcessInfo.processInfo.environment["LATCHKEY_PKITS"])
        // One certificate and one CRL have a signature that is not a whole number of bytes, on
        // purpose.
        let certificates = try Self.files("\(folder)/certs", ".crt").compactMapValues { try? Certificate(der: $0) }
        let lists = try Self.files("\(folder)/crls", ".crl").compactMapValues {
            try? CertificateRevocationList(der: $0)
        }
        #expect(certificates.count == 403)
        #expect(lists.count == 172)
        let root = try #require(certificates["TrustAnchorRootCertificate"])
        let authorities = certificates.filter { !$0.key.hasSuffix("EE") && $0.value != root }.values
        var (accepted, refused, stricter): (Int, Int, [TrustRule: Set<String>]) = (0, 0, [:])
        for (name, leaf) in certificates where name.hasSuffix("EE") {
            var evaluation = TrustEvaluation(
                [leaf] + authorities, policies: [.basicX509, .revocation([.lists, .requiresPositiveResponse])],
                at: 1_780_000_000)
            (evaluation.anchors, evaluation.isAnchorsOnly, evaluation.revocation.lists) = (
                [root], true, Array(lists.values)
            )
            let failures = evaluation.verdict().failures
            if name.hasPrefix("Invalid") || Self.alsoRefused.contains(name) {
                // A stricter rule does not replace the expected one.
                let meant = Self.meant.first { name.contains($0.part) }?.rules ?? [.revoked, .revocationUnknown]
                #expect(failures.contains { meant.contains($0.rule) }, "\(name): \(failures)")
                refused += 1
            } else if let failure = failures.first {
                stricter[failure.rule, default: []].insert(name)
            } else {
                accepted += 1
            }
        }
        #expect(stricter == Self.stricter)
        #expect(accepted == 58 && refused == 120)
    }

    private static func files(_ folder: String, _ ending: String) throws -> [String: [UInt8]] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(ending) }
        return Dictionary(
            uniqueKeysWithValues: try names.map {
                (String($0.dropLast(ending.count)), Array(try Data(contentsOf: URL(filePath: "\(folder)/\($0)"))))
            })
    }
}
