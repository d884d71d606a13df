// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust
public import TransportPolicy

/// Why there is no connection: the expected and the actual state.
public struct TLSRefusal: Error, Sendable {
    public enum Reason: Sendable {
        /// The policy of the program refuses the connection before it is made.
        case policy(TransportRefusal)
        /// The handshake violates the policy: trust, pins, version, or the strength of the
        /// certificate. Not empty, the reason to report first.
        case violations([TransportViolation])
        /// The certificates of a client are not trusted; nil if the reason is not known.
        case clientTrust(TrustFailure?)
        /// The peer sent no certificate that can be read.
        case certificate
        /// The peer's versions of TLS are all below the minimum.
        case version
        /// There is no cipher suite or signature algorithm that both sides accept.
        case algorithms
        /// The peer does not speak TLS.
        case notTLS
        /// The peer asked for a second handshake on the connection.
        case renegotiation
        /// The server requires a client certificate, or the client sent none.
        case clientCertificateRequired
        /// The peer refused this side's certificate.
        case ownCertificateRejected
        /// The identity cannot be used, or its key made no signature.
        case identity
        /// The connection ended during the handshake.
        case ended
        /// The program refused the server when it was asked.
        case program
        /// A requirement that cannot be enforced here.
        case unsupported
        /// Any other failure of the protocol.
        case other
    }

    public let reason: Reason
    /// The code of Apple's `NSURLErrorDomain`.
    public let code: TransportErrorCode
    /// The expected and the actual state.
    public let explanation: String
    /// The certificates that the peer sent, leaf first; empty if it sent none that can be read.
    public let served: [Certificate]
    /// The evaluation of the peer's certificates; nil if there was none.
    public let verdict: TrustVerdict?

    package init(
        _ reason: Reason, _ code: TransportErrorCode, _ explanation: String, served: [Certificate] = [],
        verdict: TrustVerdict? = nil
    ) {
        (self.reason, self.code, self.explanation) = (reason, code, explanation)
        (self.served, self.verdict) = (served, verdict)
    }

    package init(_ refusal: TransportRefusal) { self.init(.policy(refusal), refusal.code, refusal.explanation) }

    /// An identity that cannot be used.
    static func identity(_ explanation: String) -> TLSRefusal {
        TLSRefusal(.identity, .clientCertificateRejected, explanation)
    }

    /// A requirement of the program that cannot be enforced.
    package static func unsupported(_ explanation: String) -> TLSRefusal {
        TLSRefusal(.unsupported, .secureConnectionFailed, explanation)
    }

    /// A connection that does not satisfy the policy.
    ///
    /// - Parameter violations: not empty, the reason to report first.
    package init(_ violations: [TransportViolation], served: [Certificate], verdict: TrustVerdict? = nil) {
        self.init(
            .violations(violations), violations.first?.code ?? .serverCertificateUntrusted,
            violations.map(\.explanation).joined(separator: "; "), served: served, verdict: verdict)
    }

    /// The rule that the peer's chain breaks; nil if it is trusted or was not evaluated.
    public var trustFailure: TrustFailure? { verdict?.failure }

    /// The pins that were expected and found; empty if no pin is the reason.
    public var pinFailures: [PinFailure] {
        guard case .violations(let violations) = reason else { return [] }
        return violations.compactMap { if case .pins(let failure) = $0.kind { failure } else { nil } }
    }
}

// MARK: CustomStringConvertible

extension TLSRefusal: CustomStringConvertible {
    public var description: String { explanation }
}
