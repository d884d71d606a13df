// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import Foundation
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import SecretMemory

/// The match keys that are about what a certificate says: issuers, policy, date, trust (keychain-behaviour §3.5).
struct CertificateFilter {
    /// Names of which one has issued the certificate, or one above it in the keychain.
    private var issuers: [DistinguishedName]?
    private var policy: TrustPolicy?
    private var validOn: Date?
    private var isTrustedOnly = false

    /// Nil where none of the keys is there.
    ///
    /// - Throws: errSecParam for a value of another type; errSecUnimplemented for issuers and policies of other classes.
    init?(_ match: [String: Any], of itemClass: ItemClass) throws(KeychainError) {
        typealias Key = ItemDictionary.Key
        let isCertificate = itemClass == .certificate || itemClass == .identity
        var isAsked = false
        for name in [Key.issuers, Key.policy] where match[name] != nil && !isCertificate {
            throw KeychainError(.unimplemented, "'\(name)' is for certificates")
        }
        if let value = match[Key.issuers] {
            guard let list = value as? [Data] else {
                throw .parameter("the value of kSecMatchIssuers is no array of Data")
            }
            issuers = try list.map { (bytes) throws(KeychainError) in
                guard let name = DistinguishedName(der: Array(bytes)) else {
                    throw .parameter("an issuer to match is no name in DER")
                }
                return name
            }
            isAsked = true
        }
        if let value = match[Key.policy] {
            guard let policy = value as? SecPolicy else {
                throw .parameter("the value of kSecMatchPolicy is no SecPolicy")
            }
            self.policy = policy.policy
            isAsked = true
        }
        if let value = match[Key.validOnDate] {
            guard value is Date || value is NSNull else {
                throw .parameter("the value of kSecMatchValidOnDate is no date")
            }
            validOn = value as? Date ?? Date()
            isAsked = true
        }
        if let value = match[Key.trustedOnly] {
            guard let flag = ValueConversion.boolean(value) else {
                throw .parameter("the value of kSecMatchTrustedOnly is no Boolean")
            }
            isTrustedOnly = flag
            isAsked = isAsked || flag
        }
        guard isAsked, isCertificate else { return nil }
    }

    /// Whether the certificate is one that is looked for. An item that holds none is not.
    func matches(_ certificate: Certificate) -> Bool {
        let validationTime = (validOn ?? Date()).timeIntervalSince1970
        if validOn != nil, !certificate.validity.contains(validationTime) { return false }
        if let policy, policy.failure(ofLeaf: certificate, at: validationTime) != nil { return false }
        if let issuers, !isIssued(certificate, by: issuers) { return false }
        if isTrustedOnly {
            var evaluation = TrustEvaluation(
                [certificate] + KeychainCertificates.all(), policies: policy.map { [$0] } ?? [.basicX509],
                at: validationTime)
            evaluation.take(TrustSettingsDomains(user: try? KeychainClient.home().dataDirectory))
            return evaluation.verdict().isTrusted
        }
        return true
    }

    private func isIssued(_ certificate: Certificate, by names: [DistinguishedName]) -> Bool {
        var current = certificate
        // Nobody has more above him.
        for _ in 0..<12 {
            if names.contains(where: { $0.matches(current.issuer) }) { return true }
            guard !current.isSelfIssued, let above = KeychainCertificates.withSubject(current.issuer).first else {
                return false
            }
            current = above
        }
        return false
    }
}
