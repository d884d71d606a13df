// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import Foundation
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import SecretMemory

/// The match keys that concern the content of a certificate: issuers, policy, date and trust
/// (keychain-behaviour §3.5).
struct CertificateFilter {
    /// Names of issuers; one of them must have issued the certificate, or a certificate above it in
    /// the keychain.
    private var issuers: [DistinguishedName]?
    private var policy: TrustPolicy?
    private var validOn: Date?
    private var isTrustedOnly = false

    /// Nil if none of the keys is present.
    ///
    /// - Throws: errSecParam for a value of the wrong type; errSecUnimplemented for issuers and
    ///   policies of other classes.
    init?(_ match: [String: Any], of itemClass: ItemClass) throws(KeychainError) {
        typealias Key = ItemDictionary.Key
        let isCertificate = itemClass == .certificate || itemClass == .identity
        var isAsked = false
        for name in [Key.issuers, Key.policy] where match[name] != nil && !isCertificate {
            throw KeychainError(.unimplemented, "'\(name)' is only for certificates")
        }
        if let value = match[Key.issuers] {
            guard let list = value as? [Data] else {
                throw .parameter("kSecMatchIssuers must be an array of Data")
            }
            issuers = try list.map { (bytes) throws(KeychainError) in
                guard let name = DistinguishedName(der: Array(bytes)) else {
                    throw .parameter("kSecMatchIssuers must hold names in DER")
                }
                return name
            }
            isAsked = true
        }
        if let value = match[Key.policy] {
            guard let policy = value as? SecPolicy else {
                throw .parameter("kSecMatchPolicy must be a SecPolicy")
            }
            self.policy = policy.policy
            isAsked = true
        }
        if let value = match[Key.validOnDate] {
            guard value is Date || value is NSNull else {
                throw .parameter("kSecMatchValidOnDate must be a date")
            }
            validOn = value as? Date ?? Date()
            isAsked = true
        }
        if let value = match[Key.trustedOnly] {
            guard let flag = ValueConversion.boolean(value) else {
                throw .parameter("kSecMatchTrustedOnly must be a Boolean")
            }
            isTrustedOnly = flag
            isAsked = isAsked || flag
        }
        guard isAsked, isCertificate else { return nil }
    }

    /// Whether the certificate satisfies every condition. False for data that is not a certificate.
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
        // No chain has more than 12 certificates above the leaf.
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
