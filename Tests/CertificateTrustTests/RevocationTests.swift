// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

@testable import CertificateTrust

/// CRLs and OCSP responses made by openssl are used if the right issuer signed them and they are
/// valid.
@Suite("Revocation")
struct RevocationTests {
    private static let authority = Result { try OpenSSLAuthority() }

    private let authority: OpenSSLAuthority
    private let good: OpenSSLAuthority.IssuedCertificate
    private let bad: OpenSSLAuthority.IssuedCertificate
    private let revocation: OpenSSLRevocation

    init() throws {
        authority = try Self.authority.get()
        good = try authority.server("good.example.com")
        bad = try authority.server("bad.example.com")
        revocation = try OpenSSLRevocation(authority, revoked: [bad], others: [good])
    }

    private func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

    private func refusal(
        _ leaf: OpenSSLAuthority.IssuedCertificate, lists: [String] = [], answers: [String] = [],
        options: RevocationOptions? = nil,
        after days: Double = 0
    ) throws -> TrustRule? {
        let chain = try [leaf, authority.intermediate].map { try Certificate(der: Array($0.der)) }
        var evaluation = TrustEvaluation(
            chain, policies: [.server(nil)] + (options.map { [.revocation($0)] } ?? []),
            at: Date(timeIntervalSinceNow: days * 86_400 + 5).timeIntervalSince1970)
        evaluation.anchors = [try Certificate(der: Array(authority.root.der))]
        evaluation.isAnchorsOnly = true
        evaluation.revocation.lists = try lists.flatMap { try CertificateRevocationList.all(bytes($0)) }
        evaluation.revocation.responses = try answers.map { try OCSPResponse(der: bytes($0)) }
        return evaluation.verdict().failure?.rule
    }

    @Test("A valid CRL of the issuer shows the revoked certificates")
    func lists() throws {
        let list = try revocation.list(by: authority.intermediate)
        #expect(try CertificateRevocationList.all(bytes(list)).first?.count == 1)
        #expect(try refusal(good) == nil && refusal(bad) == nil)
        #expect(try refusal(good, lists: [list]) == nil)
        #expect(try refusal(bad, lists: [list]) == .revoked)
        // CRLs that the options exclude, that have expired, or that are from another issuer.
        #expect(try refusal(bad, lists: [list], options: .ocsp) == nil)
        #expect(try refusal(bad, lists: [list], options: .lists) == .revoked)
        #expect(try refusal(bad, lists: [list], after: 31) == nil)
        let foreign = try revocation.list(by: authority.root)
        #expect(try refusal(bad, lists: [foreign]) == nil)
        // A changed byte of the signature.
        let pem = try authority.openssl.output(["crl", "-in", list, "-outform", "DER"])
        var changed = pem
        changed[changed.count - 1] ^= 1
        #expect(try refusal(bad, lists: [authority.openssl.file(changed)]) == nil)
        #expect(try refusal(bad, lists: [authority.openssl.file(pem)]) == .revoked)
    }

    @Test("A valid OCSP response of the issuer or of an authorized responder gives the status of one certificate")
    func answers() throws {
        let issuer = authority.intermediate
        for (leaf, expected) in [(good, nil), (bad, .revoked)] as [(OpenSSLAuthority.IssuedCertificate, TrustRule?)] {
            let answer = try revocation.answer(about: leaf, of: issuer, signer: issuer)
            #expect(try refusal(leaf, answers: [answer]) == expected)
            #expect(try refusal(leaf, answers: [answer], options: .lists) == nil)
            #expect(try refusal(leaf, answers: [answer], after: 3) == nil)
        }
        let usual = "keyUsage=critical,digitalSignature\nsubjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n"
        let delegate = try authority.issue("/CN=OCSP", usual + "extendedKeyUsage=OCSPSigning\n", by: issuer)
        #expect(try refusal(bad, answers: [revocation.answer(about: bad, of: issuer, signer: delegate)]) == .revoked)
        // Without the extended key usage, or from another issuer.
        let otherCertificate = try authority.issue("/CN=Nobody", usual, by: issuer)
        #expect(try refusal(bad, answers: [revocation.answer(about: bad, of: issuer, signer: otherCertificate)]) == nil)
        let foreign = try authority.issue("/CN=Foreign", usual + "extendedKeyUsage=OCSPSigning\n", by: authority.root)
        #expect(try refusal(bad, answers: [revocation.answer(about: bad, of: issuer, signer: foreign)]) == nil)
        // A responder certificate with the issuer's name, but not signed by its key.
        let sameNameIssuer = try OpenSSLAuthority()
        let forged = try sameNameIssuer.issue(
            "/CN=OCSP", usual + "extendedKeyUsage=OCSPSigning\n", by: sameNameIssuer.intermediate)
        let (says, roots) = (
            try revocation.answer(about: good, of: issuer, signer: forged), try revocation.list(by: authority.root)
        )
        let require: RevocationOptions = [.ocsp, .lists, .requiresPositiveResponse]
        #expect(try refusal(good, lists: [roots], answers: [says], options: require) == .revocationUnknown)
        let right = try revocation.answer(about: good, of: issuer, signer: delegate)
        #expect(try refusal(good, lists: [roots], answers: [right], options: require) == nil)
        // A response for another certificate.
        #expect(try refusal(good, answers: [revocation.answer(about: bad, of: issuer, signer: issuer)]) == nil)
    }

    @Test("If status is required, every certificate below the anchor must be confirmed not revoked")
    func required() throws {
        let require: RevocationOptions = [.ocsp, .lists, .requiresPositiveResponse]
        let (leafs, roots) = (try revocation.list(by: authority.intermediate), try revocation.list(by: authority.root))
        #expect(try refusal(good, options: require) == .revocationUnknown)
        #expect(try refusal(good, lists: [leafs], options: require) == .revocationUnknown)
        #expect(try refusal(good, lists: [leafs, roots], options: require) == nil)
        #expect(try refusal(bad, lists: [leafs, roots], options: require) == .revoked)
        #expect(try refusal(good, lists: [leafs, roots], options: require, after: 31) == .revocationUnknown)
        let answer = try revocation.answer(about: good, of: authority.intermediate, signer: authority.intermediate)
        #expect(try refusal(good, lists: [roots], answers: [answer], options: require) == nil)
    }

    @Test("A CRL with a limited scope covers only certificates of its kind or with its distribution point")
    func scopes() throws {
        let issuer = authority.intermediate
        let extensions =
            OpenSSLAuthority.server("DNS:placed.example.com") + "crlDistributionPoints=URI:http://crl.example.com/1\n"
        let placed = try authority.issue("/CN=placed", extensions, by: issuer)
        let revocation = try OpenSSLRevocation(authority, revoked: [placed, bad], others: [])
        func rule(_ leaf: OpenSSLAuthority.IssuedCertificate, _ scope: String) throws -> TrustRule? {
            let list = try revocation.list(
                by: issuer, extensions: "issuingDistributionPoint=critical,@scope\n[scope]\n\(scope)\n")
            return try refusal(leaf, lists: [list])
        }
        #expect(try rule(placed, "fullname=URI:http://crl.example.com/1") == .revoked)
        #expect(try rule(placed, "fullname=URI:http://crl.example.com/2") == nil)
        #expect(try rule(bad, "fullname=URI:http://crl.example.com/1") == nil)
        let partial =
            OpenSSLAuthority.server("DNS:partial.example.com")
            + "crlDistributionPoints=point\n[point]\nfullname=URI:http://crl.example.com/1\nreasons=keyCompromise\n"
        let part = try authority.issue("/CN=part", partial, by: issuer)
        let unrevoked = try authority.issue("/CN=part", partial, by: issuer)
        let parts = try OpenSSLRevocation(authority, revoked: [part], others: [unrevoked])
        let one = "issuingDistributionPoint=critical,@scope\n[scope]\nfullname=URI:http://crl.example.com/1\n"
        #expect(try refusal(part, lists: [parts.list(by: issuer, extensions: one)]) == .revoked)
        // The CRL covers only some reasons, so it cannot confirm that the certificate is not
        // revoked.
        let (roots, require) = (
            try parts.list(by: authority.root), [.lists, .requiresPositiveResponse] as RevocationOptions
        )
        let (some, all) = (try parts.list(by: issuer, extensions: one), try parts.list(by: issuer))
        #expect(try refusal(unrevoked, lists: [roots, some], options: require) == .revocationUnknown)
        #expect(try refusal(unrevoked, lists: [roots, all], options: require) == nil)
        #expect(try refusal(part, lists: [parts.list(by: issuer)]) == .revoked)
        #expect(try rule(bad, "fullname=dirName:whole\n[whole]\nCN=Test intermediate") == .revoked)
        #expect(try rule(bad, "onlyuser=TRUE") == .revoked)
        #expect(try rule(bad, "onlyCA=TRUE") == nil)
        #expect(try rule(bad, "onlysomereasons=keyCompromise") == .revoked)
        #expect(try rule(bad, "indirectCRL=TRUE") == nil)
        let changes = try revocation.list(by: issuer, extensions: "2.5.29.27=critical,DER:020101\n")
        #expect(try refusal(bad, lists: [changes]) == .revoked)
        #expect(try refusal(good, lists: [roots, changes], options: require) == .revocationUnknown)
        #expect(try rule(bad, "onlyAA=TRUE") == nil)
    }

    @Test(
        "A CRL with a missing, critical or malformed CRL number can only show that a certificate is revoked",
        arguments: [
            ("DER:020101", true), ("DER:020900FFFFFFFFFFFFFFFF", true), (nil, false), ("critical,DER:020101", false),
            ("DER:0201FF", false), ("DER:0C0131", false), ("DER:0500", false),
        ] as [(String?, Bool)])
    func numbers(_ number: String?, _ isEvidence: Bool) throws {
        let issuer = authority.intermediate
        let (list, roots) = (try revocation.list(by: issuer, number: number), try revocation.list(by: authority.root))
        #expect(try refusal(bad, lists: [list]) == .revoked)
        #expect(try refusal(good, lists: [list]) == nil)
        let required: RevocationOptions = [.lists, .requiresPositiveResponse]
        #expect(try refusal(good, lists: [list, roots], options: required) == (isEvidence ? nil : .revocationUnknown))
        // It does not affect another CRL that has a valid number.
        #expect(try refusal(good, lists: [list, roots, revocation.list(by: issuer)], options: required) == nil)
    }

    @Test("Forty CRLs for other certificates of the issuer cost no signature verification")
    func many() throws {
        let issuer = authority.intermediate
        let others = try (0..<40).map { number in
            let scope =
                "issuingDistributionPoint=critical,@scope\n[scope]\nfullname=URI:http://crl.example.com/\(number)\n"
            return try revocation.list(by: issuer, extensions: scope)
        }
        #expect(try refusal(good, lists: others) == nil)
        #expect(try refusal(bad, lists: others + [revocation.list(by: issuer)]) == .revoked)
    }

    @Test("Truncated and changed CRLs and OCSP responses are refused or not used, and do not trap")
    func malformed() throws {
        let list = try authority.openssl.output([
            "crl", "-in", revocation.list(by: authority.intermediate), "-outform", "DER",
        ])
        let answer = try bytes(
            revocation.answer(about: good, of: authority.intermediate, signer: authority.intermediate))
        for count in 0..<list.count {
            #expect(throws: CertificateError.self) { try CertificateRevocationList(der: Array(list.prefix(count))) }
        }
        for count in 0..<answer.count {
            #expect(throws: CertificateError.self) { try OCSPResponse(der: Array(answer.prefix(count))) }
        }
        let issuer = try Certificate(der: Array(authority.intermediate.der))
        let leaf = try Certificate(der: Array(good.der))
        let validationTime = Date(timeIntervalSinceNow: 5).timeIntervalSince1970
        for position in 0..<answer.count {
            var changed = answer
            changed[position] ^= 0x04
            guard let response = try? OCSPResponse(der: changed) else { continue }
            let status = response.status(of: leaf, issuer: issuer, at: validationTime)
            // Bytes after the signature, such as the responder's own certificate, do not matter.
            if case .good = status { #expect(position > 200 || changed == answer, "byte \(position)") }
        }
        for position in 0..<list.count {
            var changed = list
            changed[position] ^= 0x04
            guard let parsed = try? CertificateRevocationList(der: changed) else { continue }
            if case .good = parsed.status(of: leaf, issuer: issuer, at: validationTime) {
                Issue.record("byte \(position)")
            }
        }
    }
}
