// SPDX-License-Identifier: Apache-2.0

/// The purpose of a load. Only App Transport Security's switches for media and web content depend on it.
public enum LoadPurpose: Hashable, Sendable, CaseIterable {
    case general
    case media
    case webContent
}

/// How a URL may be loaded; made before a connection.
public enum TransportDecision: Hashable, Sendable {
    /// No connection is made.
    case refused(TransportRefusal)
    /// A connection without TLS is allowed.
    case plain
    /// A connection with TLS is made, and its handshake is compared with the requirements.
    case secure(TLSRequirements)
}

/// Why a URL is not loaded.
public struct TransportRefusal: Error, Hashable, Sendable {
    public enum Reason: Hashable, Sendable {
        /// Neither HTTP nor HTTPS, nor WebSocket over one of them.
        case unsupportedScheme
        /// The host is neither a host name nor an address.
        case invalidHost
        /// HTTP without TLS.
        case insecureHTTP
        /// HTTP without TLS to a host with pins.
        case insecurePinnedHost
        /// A redirect from HTTPS to HTTP.
        case insecureRedirect
        /// The settings for the host have an error, so their requirements are not known.
        case invalidSettings
        /// A requirement that cannot be verified here.
        case unsupportedRequirement
    }

    public let reason: Reason
    public let code: TransportErrorCode
    /// The explanation, with the expected and the found value.
    public let explanation: String

    init(_ reason: Reason, _ explanation: String) {
        self.reason = reason
        self.explanation = explanation
        code =
            switch reason {
            case .unsupportedScheme: .unsupportedURL
            case .invalidHost: .badURL
            case .insecureHTTP, .insecurePinnedHost, .insecureRedirect: .appTransportSecurityRequiresSecureConnection
            case .invalidSettings, .unsupportedRequirement: .secureConnectionFailed
            }
    }
}

// MARK: CustomStringConvertible

extension TransportRefusal: CustomStringConvertible {
    public var description: String { explanation }
}
