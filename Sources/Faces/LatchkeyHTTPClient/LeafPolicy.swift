// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import LatchkeyNIOSSL
internal import LinuxSystem
internal import NIOSSL
internal import TransportPolicy

/// A policy that decides with the leaf of a verified chain, and without the host of the connection.
///
/// A certificate can stand for every host that it names, so that the requirements of all of them
/// apply: a server that could answer for a host with pins must have a pinned key.
struct LeafPolicy: Sendable {
    private let policy: ConnectionPolicy

    /// The maximum number of names in a certificate.
    static let maxNames = 1000

    /// - Throws: if the policy or the trust requires more than a leaf can show.
    init(_ policy: ConnectionPolicy, _ trust: PeerTrust) throws(TLSRefusal) {
        let requirements = policy.allPins.flatMap(\.sets).flatMap { set in
            set.requirements.map { (set.rule.domain, $0.placement) }
        }
        if let (domain, _) = requirements.first(where: { $0.1 == .certificateAuthority }) {
            throw .unsupported(
                "pins of CAs are unsupported by async-http-client, because it does not show the chain, found some for "
                    + "\(domain): pin the leaf, or use LatchkeyNIOSSL or LatchkeyURLSession")
        }
        guard trust.revocation == nil, trust.transparency == nil else {
            throw .unsupported(
                "the revocation and the timestamps of certificates cannot be checked with async-http-client")
        }
        self.policy = policy
    }

    /// - Throws: `TLSRefusal` if the connection must not be used.
    func allow(_ leaf: Certificate, _ version: NIOSSL.TLSVersion?) throws(TLSRefusal) {
        let hosts = try hosts(leaf)
        guard !hosts.isEmpty else { throw .names("expected a certificate with the name of a host, found none", leaf) }
        let now = WallClock.now
        for host in hosts {
            switch policy.decision(scheme: "https", host: host, at: now) {
            case .refused(let refusal): throw TLSRefusal(refusal)
            case .plain: throw .insecureHTTP
            case .secure(let requirements):
                let verdict = requirements.verdict(
                    onVerified: leaf, version.flatMap { TransportPolicy.TLSVersion($0) }, at: now)
                guard verdict.isAccepted else { throw TLSRefusal(verdict.violations, served: [leaf]) }
            }
        }
    }

    /// The hosts that the certificate stands for and that the policy can tell apart.
    private func hosts(_ leaf: Certificate) throws(TLSRefusal) -> Set<String> {
        let names = leaf.extensions.subjectAlternativeNames ?? []
        guard names.count <= Self.maxNames else {
            throw .names("expected at most \(Self.maxNames) names, found \(names.count)", leaf)
        }
        var hosts: Set<String> = []
        for name in names {
            switch name {
            case .dns(let bytes): hosts.formUnion(self.hosts(dnsName: String(decoding: bytes, as: UTF8.self)))
            case .ip(let bytes): if let address = IPAddress(bytes) { hosts.insert(address.description) }
            default: break
            }
        }
        return hosts
    }

    private func hosts(dnsName: String) -> Set<String> {
        guard dnsName.hasPrefix("*.") else { return HostName(dnsName).map { [$0.description] } ?? [] }
        guard let parent = HostName(String(dnsName.dropFirst(2))) else { return [] }
        let configured = policy.domains.filter { $0.labels(below: parent) == 1 }
        return Set((configured + [HostName("\(Self.anyLabel).\(parent)")].compactMap(\.self)).map(\.description))
    }

    /// Stands for a host below a wildcard that has no settings of its own.
    private static let anyLabel = "any-host-of-the-wildcard"
}

extension TLSRefusal {
    /// A connection without TLS.
    static var insecureHTTP: TLSRefusal {
        TLSRefusal(
            .unsupported, .appTransportSecurityRequiresSecureConnection,
            "expected a URL with https: a client with a policy makes no connection without TLS")
    }

    /// A server that sent no certificate.
    static var noCertificate: TLSRefusal {
        TLSRefusal(.certificate, .serverCertificateUntrusted, "expected a certificate of the server, found none")
    }

    /// A certificate with names that say nothing about the host.
    fileprivate static func names(_ explanation: String, _ leaf: Certificate) -> TLSRefusal {
        TLSRefusal(.certificate, .serverCertificateUntrusted, explanation, served: [leaf])
    }
}
