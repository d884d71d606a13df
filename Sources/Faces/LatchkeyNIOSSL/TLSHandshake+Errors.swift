// SPDX-License-Identifier: Apache-2.0

internal import NIOSSL
internal import TransportPolicy

// The names of BoringSSL's failures.

extension TLSHandshake {
    /// Names the error that the handler of the connection fired
    /// (`errorCaught`), with the reason of the refusal if the peer's certificates are the reason. BoringSSL itself reports those as `CERTIFICATE_VERIFY_FAILED`.
    /// If the peer's certificates were accepted, as for a second handshake, the refusal has them.
    public func refusal(for error: any Error) -> TLSRefusal {
        if let refusal = refusal ?? error as? TLSRefusal { return refusal }
        let named = Self.refusal(named: error)
        guard let peer else { return named }
        return TLSRefusal(named.reason, named.code, named.explanation, served: peer.served, verdict: peer.verdict)
    }

    private static func refusal(named error: any Error) -> TLSRefusal {
        // With TLS 1.3, a server refuses a client's certificate after the handshake of the client.
        if let failure = error as? BoringSSLError { return refusal(for: failure) }
        switch error as? NIOSSLError {
        case .handshakeFailed(let failure): return refusal(for: failure)
        case .uncleanShutdown: return ended
        default: return TLSRefusal(.other, .secureConnectionFailed, "the connection with TLS failed: \(error)")
        }
    }

    private static let ended = TLSRefusal(
        .ended, .secureConnectionFailed, "the peer ended the connection without the end that TLS requires")

    private static func refusal(for failure: BoringSSLError) -> TLSRefusal {
        guard case .sslError(let stack) = failure, !stack.isEmpty, !stack.contains(.eofDuringHandshake) else {
            return ended
        }
        let text = stack.map(\.description).joined(separator: "; ")
        for kind in FailureKind.all where kind.names.contains(where: text.contains) {
            return TLSRefusal(kind.reason, kind.code, "\(kind.explanation) (\(text))")
        }
        return TLSRefusal(.other, .secureConnectionFailed, "the handshake failed: \(text)")
    }
}

/// The meaning of BoringSSL's names of failures.
private struct FailureKind {
    let names: [String]
    let reason: TLSRefusal.Reason
    var code = TransportErrorCode.secureConnectionFailed
    let explanation: String

    static var all: [FailureKind] {
        [
            FailureKind(
                names: ["UNSUPPORTED_PROTOCOL", "ALERT_PROTOCOL_VERSION", "TLSV1_ALERT_INAPPROPRIATE_FALLBACK"],
                reason: .version, explanation: "the peer has no version of TLS that is at least the minimum"),
            FailureKind(
                names: [
                    "NO_SHARED_CIPHER", "WRONG_CIPHER_RETURNED", "HANDSHAKE_FAILURE_ON_CLIENT_HELLO",
                    "ALERT_HANDSHAKE_FAILURE", "ALERT_INSUFFICIENT_SECURITY", "NO_COMMON_SIGNATURE_ALGORITHMS",
                    "WRONG_SIGNATURE_TYPE", "UNSUPPORTED_SIGNATURE_ALGORITHM", "NO_SHARED_GROUP", "WRONG_CURVE",
                ],
                reason: .algorithms,
                explanation: "there is no cipher suite or signature algorithm that both sides accept"),
            FailureKind(
                names: ["WRONG_VERSION_NUMBER", "HTTP_REQUEST", "HTTPS_PROXY_REQUEST"], reason: .notTLS,
                explanation: "the peer does not speak TLS"),
            FailureKind(
                names: ["NO_RENEGOTIATION"], reason: .renegotiation,
                explanation: "the peer asked for a second handshake, and was refused"),
            FailureKind(
                names: ["CERTIFICATE_REQUIRED", "PEER_DID_NOT_RETURN_A_CERTIFICATE"],
                reason: .clientCertificateRequired, code: .clientCertificateRequired,
                explanation: "a client certificate is required, and none was sent"),
            FailureKind(
                names: [
                    "ALERT_BAD_CERTIFICATE", "ALERT_UNKNOWN_CA", "ALERT_CERTIFICATE_EXPIRED",
                    "ALERT_CERTIFICATE_REVOKED", "ALERT_CERTIFICATE_UNKNOWN", "ALERT_UNSUPPORTED_CERTIFICATE",
                    "ALERT_ACCESS_DENIED",
                ],
                reason: .ownCertificateRejected, code: .clientCertificateRejected,
                explanation: "the peer refused this side's certificate, or its chain"),
            FailureKind(
                names: ["PRIVATE_KEY_OPERATION_FAILED"], reason: .identity, code: .clientCertificateRejected,
                explanation: "the private key of the identity made no signature"),
        ]
    }
}
