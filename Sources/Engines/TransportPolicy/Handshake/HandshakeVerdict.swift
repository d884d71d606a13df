// SPDX-License-Identifier: Apache-2.0

package import CertificateTrust

/// The result of the comparison of a connection with its requirements.
public struct HandshakeVerdict: Hashable, Sendable {
    /// All requirements that are not satisfied, the reason to report first. The connection may be used
    /// only if there are none.
    public let violations: [TransportViolation]
    /// Failures of pins that request only reports.
    public let reports: [PinFailure]

    public var isAccepted: Bool { violations.isEmpty }
}

extension TLSRequirements {
    /// Compares a connection with the requirements.
    ///
    /// - Parameter time: seconds since 1970, for the expiration of pins.
    public func verdict(on connection: NegotiatedConnection, at time: Double) -> HandshakeVerdict {
        var (violations, reports): ([TransportViolation], [PinFailure]) = ([], [])
        if let chain = connection.chain {
            if connection.served.first != chain.leaf {
                violations.append(
                    TransportViolation(
                        .otherChain, "the validated chain is not for the certificate that \(server) sent"))
            }
            for set in pins {
                switch set.verdict(of: chain, served: connection.served, at: time) {
                case .matched, .expired: break
                case .reported(let failure): reports.append(failure)
                case .refused(let failure): violations.append(TransportViolation(.pins(failure), failure.description))
                }
            }
        } else {
            // Pins are for validated chains; without one, the connection is refused in any case.
            let reason = connection.trustFailure?.explanation ?? "the certificates were not accepted"
            violations.append(
                TransportViolation(.trust(connection.trustFailure), "\(server) is not trusted: \(reason)"))
        }
        violations += [
            versionViolation(connection), suiteViolation(connection), keyViolation(connection.leaf),
            hashViolation(connection.leaf), transparencyViolation(connection),
        ].compactMap(\.self)
        return HandshakeVerdict(violations: violations, reports: reports)
    }

    /// Compares a connection when only the leaf is known, because another library has verified the chain and does not
    /// show it. Pins of CAs match nothing.
    ///
    /// - Parameters:
    ///   - leaf: the first certificate of a chain that was verified for the server.
    ///   - time: seconds since 1970, for the expiration of pins.
    package func verdict(onVerified leaf: Certificate, _ version: TLSVersion?, at time: Double) -> HandshakeVerdict {
        let suite = suites.first { ($0.keyExchange == .tls13) == (version == .tls13) }?.name ?? ""
        let connection = NegotiatedConnection(
            version, suite: suite, leaf: LeafStrength(leaf), chain: ValidatedChain(unchecked: [leaf]), served: [leaf])
        return verdict(on: connection, at: time)
    }

    /// Compares certificates with the requirements, without a connection: as one with TLS 1.3.
    ///
    /// - Parameters:
    ///   - verdict: their evaluation; pins are compared for its time.
    ///   - served: leaf first.
    package func verdict(onCertificates verdict: TrustVerdict, served: [Certificate]) -> HandshakeVerdict {
        let suite = suites.first { $0.keyExchange == .tls13 }?.name ?? ""
        let connection = NegotiatedConnection(.tls13, suite: suite, verdict: verdict, served: served)
        return self.verdict(on: connection, at: verdict.validationTime)
    }

    private func versionViolation(_ connection: NegotiatedConnection) -> TransportViolation? {
        if let version = connection.version, version >= minimumVersion { return nil }
        let found = connection.version?.rawValue ?? "an unknown version"
        return TransportViolation(.version, "\(server) must use at least \(minimumVersion), found \(found)")
    }

    private func suiteViolation(_ connection: NegotiatedConnection) -> TransportViolation? {
        guard let suite = CipherSuite(named: connection.suite) else {
            return TransportViolation(
                .unknownSuite, "\(server) uses the unknown or weak cipher suite \(connection.suite.quoted)")
        }
        guard (suite.keyExchange == .tls13) == (connection.version == .tls13) else {
            return TransportViolation(
                .suiteOfOtherVersion, "the cipher suite \(suite.name) does not belong to the version of TLS")
        }
        guard requiresForwardSecrecy, !suite.isForwardSecret else { return nil }
        return TransportViolation(
            .forwardSecrecy, "\(server) must use a cipher suite with forward secrecy, found \(suite.name)")
    }

    private func keyViolation(_ leaf: LeafStrength) -> TransportViolation? {
        guard requiresStrongKey else { return nil }
        let minimum =
            switch leaf.kind {
            case .rsa: Self.minRSABits
            case .curve: Self.minCurveBits
            case .other: Int.max
            }
        if let bits = leaf.bits, bits >= minimum { return nil }
        return TransportViolation(
            .key,
            "\(server) must have an RSA key of at least \(Self.minRSABits) bits or a key on a curve of at least "
                + "\(Self.minCurveBits) bits, found \(leaf)")
    }

    private func hashViolation(_ leaf: LeafStrength) -> TransportViolation? {
        guard requiresStrongHash else { return nil }
        switch leaf.hash {
        case .sha256, .sha384, .sha512: return nil
        case .md5, .sha1, .sha224, nil: break
        }
        return TransportViolation(
            .signatureHash, "the certificate of \(server) must be signed with SHA-256 or longer, found \(leaf)")
    }

    private func transparencyViolation(_ connection: NegotiatedConnection) -> TransportViolation? {
        guard requiresCertificateTransparency, !connection.hasCertificateTransparency else { return nil }
        return TransportViolation(
            .certificateTransparency, "certificate transparency is required of \(server), and was not verified")
    }
}
