// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import Foundation
internal import KeychainModel

/// The match keys that concern the content of a certificate: issuers, policy, date and trust
/// (keychain-behaviour §3.5).
struct CertificateFilter {
    /// Names of issuers; one of them must have issued the certificate, or a certificate above it in
    /// the keychain.
    private(set) var issuers: [DistinguishedName]?
    private(set) var policy: TrustPolicy?
    private(set) var validOn: Date?
    private(set) var isTrustedOnly = false

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
}
