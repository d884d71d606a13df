// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust

/// A connection after its TLS handshake, before the first byte of a request.
public struct NegotiatedConnection: Sendable {
    /// Nil for a version that is not known, such as SSL 3.
    public var version: TLSVersion?
    /// The name of the cipher suite, of IANA or of OpenSSL.
    public var suite: String
    /// The leaf of the validated chain, or else of the best attempt.
    public var leaf: LeafStrength
    /// Nil if the server's certificates are not trusted.
    public var chain: ValidatedChain?
    /// Why they are not trusted; nil if they are, or if the reason is not known.
    public var trustFailure: TrustFailure?
    /// The certificates that the server sent, leaf first.
    public var served: [Certificate]
    /// Whether the transparency of the leaf was verified; see RFC 6962.
    public var hasCertificateTransparency = false

    /// - Parameters:
    ///   - version: nil for a version that is not known.
    ///   - verdict: the evaluation of the served certificates for the name of the server.
    public init(_ version: TLSVersion?, suite: String, verdict: TrustVerdict, served: [Certificate]) {
        self.version = version
        self.suite = suite
        leaf = LeafStrength(verdict.chain.first)
        chain = ValidatedChain(verdict)
        trustFailure = verdict.failure
        self.served = served
    }

    init(_ version: TLSVersion?, suite: String, leaf: LeafStrength, chain: ValidatedChain?, served: [Certificate]) {
        (self.version, self.suite, self.leaf) = (version, suite, leaf)
        (self.chain, self.served) = (chain, served)
    }
}

/// The properties of a server's certificate itself that App Transport Security restricts.
public struct LeafStrength: Hashable, Sendable {
    public enum KeyKind: String, Hashable, Sendable {
        case rsa = "RSA"
        /// A NIST prime curve.
        case curve = "EC"
        case other = "unknown"
    }

    public var kind: KeyKind
    /// The bits of the modulus, or of the curve's field; nil if they are not known.
    public var bits: Int?
    /// Nil if it is not known.
    public var hash: SignatureHash?

    public init(kind: KeyKind, bits: Int?, hash: SignatureHash?) {
        (self.kind, self.bits, self.hash) = (kind, bits, hash)
    }

    /// The strength of a certificate; nothing is known without one.
    init(_ certificate: Certificate?) {
        self.init(kind: .other, bits: certificate?.publicKey.bits, hash: certificate?.signatureHash)
        switch certificate?.publicKey.kind {
        case .rsa: kind = .rsa
        case .ellipticCurve where bits != nil: kind = .curve
        default: break
        }
    }
}

// MARK: CustomStringConvertible

extension LeafStrength: CustomStringConvertible {
    public var description: String {
        "a key of the kind \(kind.rawValue)\(bits.map { " with \($0) bits" } ?? ""), signed with "
            + (hash?.rawValue ?? "an unknown hash")
    }
}
