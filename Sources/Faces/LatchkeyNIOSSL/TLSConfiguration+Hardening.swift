// SPDX-License-Identifier: Apache-2.0

package import NIOSSL
package import TransportPolicy

extension TLSConfiguration {
    /// A client's configuration for these requirements. Without the callback of ``PeerVerification`` it
    /// accepts no server, because it has no trust roots.
    static func client(_ requirements: TLSRequirements) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.harden()
        configuration.minimumTLSVersion = NIOSSL.TLSVersion(requirements.minimumVersion)
        // TLS 1.3 has its own suites, and BoringSSL always offers them.
        configuration.cipherSuites = requirements.suites.filter { $0.keyExchange != .tls13 }.map(\.shortName)
            .joined(separator: ":")
        if !requirements.requiresStrongHash { configuration.verifySignatureAlgorithms = nil }
        // BoringSSL's own verification of host names runs after the handshake, when a client
        // certificate has been sent, and accepts a name for an address. The callback decides.
        configuration.certificateVerification = .noHostnameVerification
        return configuration
    }

    /// A server's configuration with an identity.
    static func server(_ identity: TLSIdentity) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: identity.certificateChain, privateKey: identity.privateKey)
        configuration.harden()
        configuration.minimumTLSVersion = .tlsv12
        configuration.cipherSuites = CipherSuite.forwardSecret.filter { $0.keyExchange != .tls13 }.map(\.shortName)
            .joined(separator: ":")
        return configuration
    }

    private mutating func harden() {
        trustRoots = .certificates([])
        // A second signature on a connection would end the process.
        renegotiationSupport = .none
        // Without SHA-1.
        verifySignatureAlgorithms = [
            .ecdsaSecp256R1Sha256, .rsaPssRsaeSha256, .rsaPkcs1Sha256, .ecdsaSecp384R1Sha384, .rsaPssRsaeSha384,
            .rsaPkcs1Sha384, .ecdsaSecp521R1Sha512, .rsaPssRsaeSha512, .rsaPkcs1Sha512,
        ]
    }
}

extension NIOSSL.TLSVersion {
    init(_ version: TransportPolicy.TLSVersion) {
        self =
            switch version {
            case .tls10: .tlsv1
            case .tls11: .tlsv11
            case .tls12: .tlsv12
            case .tls13: .tlsv13
            }
    }
}

extension TransportPolicy.TLSVersion {
    package init?(_ version: NIOSSL.TLSVersion) {
        switch version {
        case .tlsv1: self = .tls10
        case .tlsv11: self = .tls11
        case .tlsv12: self = .tls12
        case .tlsv13: self = .tls13
        }
    }
}
