// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import Foundation
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeySecurity
internal import LatchkeyService
internal import LinuxSystem

/// An identity that a server names, instead of holding it: a certificate of the keychain with its private key there. A
/// renewal adds or replaces the certificate, and the name stays.
public struct KeychainIdentity: Hashable, Sendable {
    private enum Name: Hashable, Sendable {
        case label(String)
        case subject(String)
    }

    private let name: Name

    /// Names the identity by the label of its certificate or private key.
    public init(label: String) { name = .label(label) }

    /// Names the identity by a name in its certificate: its subject's common name, or a host name of its alternative
    /// names.
    public init(subject: String) { name = .subject(subject) }

    /// Reads the identity from the keychain. If several have the name, it is the one that is valid now and has the
    /// latest start of validity. CAs between the certificate and its anchor are taken from the keychain as well.
    ///
    /// Reads the keychain, so it must not be called on an event loop.
    ///
    /// - Throws: if the keychain has no such identity that is valid, or if its key cannot sign for
    ///   TLS.
    public func current() throws(TLSRefusal) -> TLSIdentity { try read().identity }

    /// An identity with the certificates that reveal a renewal.
    struct Reading: Sendable {
        let identity: TLSIdentity
        /// The DER of the certificates, leaf first.
        let certificates: [[UInt8]]
    }

    func read() throws(TLSRefusal) -> Reading {
        let candidates = try candidates()
        let now = WallClock.now
        let valid = candidates.filter { candidate in
            Double(candidate.validity.notBefore.secondsSince1970) <= now
                && now <= Double(candidate.validity.notAfter.secondsSince1970)
        }
        guard let leaf = valid.max(by: Self.isOlder) else {
            let found = candidates.isEmpty ? "none" : "\(candidates.count) that are not valid now"
            throw .identity("the keychain must have an identity with \(self), found \(found)")
        }
        let chain = [leaf] + Self.issuers(of: leaf)
        let certificates = chain.compactMap { SecCertificateCreateWithData(nil, Data($0.der) as CFData) }
        var identity: SecIdentity?
        guard let certificate = certificates.first, certificates.count == chain.count,
            SecIdentityCreateWithCertificate(nil, certificate, &identity) == errSecSuccess, let identity
        else {
            throw .identity("the private key of the identity with \(self) was not found in the keychain")
        }
        return Reading(
            identity: try TLSIdentity(identity, intermediates: Array(certificates.dropFirst())),
            certificates: chain.map(\.der))
    }

    /// The certificates of the identities with the name.
    private func candidates() throws(TLSRefusal) -> [Certificate] {
        let query = ItemQuery(.identity, synchronizable: .any, limit: .all, authentication: Authentication(.skip))
        let records: [IdentityRecord]
        do throws(KeychainError) {
            records = try KeychainClient.session().copyIdentities(query, returning: [.attributes, .reference])
        } catch {
            throw .identity("the identities of the keychain cannot be read: \(error)")
        }
        return records.compactMap { record in
            guard let certificate = KeychainCertificates.certificate(of: record.certificate) else { return nil }
            return isNamed(certificate, record) ? certificate : nil
        }
    }

    private func isNamed(_ certificate: Certificate, _ record: IdentityRecord) -> Bool {
        switch name {
        case .label(let label): record.certificate[.label]?.text == label || record.key[.label]?.text == label
        case .subject(let subject):
            certificate.subjectSummary == subject
                || (certificate.extensions.subjectAlternativeNames ?? []).contains { alternative in
                    if case .dns(let host) = alternative { host.elementsEqual(subject.utf8) } else { false }
                }
        }
    }

    /// The order of renewal. The digest makes it total.
    private static func isOlder(_ left: Certificate, _ right: Certificate) -> Bool {
        let (first, second) = (left.validity, right.validity)
        if first.notBefore != second.notBefore { return first.notBefore < second.notBefore }
        if first.notAfter != second.notAfter { return first.notAfter < second.notAfter }
        return left.sha256.lexicographicallyPrecedes(right.sha256)
    }

    /// Returns the CAs above a certificate that are in the keychain, without the anchor, because the peer has it.
    private static func issuers(of leaf: Certificate) -> [Certificate] {
        var (chain, current): ([Certificate], Certificate) = ([], leaf)
        while chain.count < maxIssuers, !current.isSelfIssued {
            let key = current.extensions.authorityKeyIdentifier?.keyIdentifier
            let issuer = KeychainCertificates.issuers(current.issuer).first { candidate in
                !candidate.isSelfIssued && !chain.contains(candidate)
                    && (key == nil || candidate.extensions.subjectKeyIdentifier == key)
            }
            guard let issuer else { break }
            chain.append(issuer)
            current = issuer
        }
        return chain
    }

    private static let maxIssuers = 8
}

// MARK: CustomStringConvertible

extension KeychainIdentity: CustomStringConvertible {
    public var description: String {
        switch name {
        case .label(let label): "the label '\(label)'"
        case .subject(let subject): "a certificate for '\(subject)'"
        }
    }
}
