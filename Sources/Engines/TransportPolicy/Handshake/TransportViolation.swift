// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust

/// A requirement that a connection does not satisfy.
public struct TransportViolation: Error, Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// The server's certificates are not trusted; nil if the reason is not known.
        case trust(TrustFailure?)
        /// The validated chain is not one of the certificates that the server sent.
        case otherChain
        case version
        case unknownSuite
        case forwardSecrecy
        /// The suite does not belong to the version.
        case suiteOfOtherVersion
        case key
        case signatureHash
        case certificateTransparency
        case pins(PinFailure)
    }

    public let kind: Kind
    public let code: TransportErrorCode
    /// The explanation, with the expected and the found value.
    public let explanation: String

    init(_ kind: Kind, _ explanation: String) {
        (self.kind, self.explanation) = (kind, explanation)
        code =
            switch kind {
            case .trust(let failure): failure.map { TransportErrorCode($0) } ?? .serverCertificateUntrusted
            case .key, .signatureHash, .certificateTransparency, .pins, .otherChain: .serverCertificateUntrusted
            case .version, .unknownSuite, .forwardSecrecy, .suiteOfOtherVersion: .secureConnectionFailed
            }
    }
}

// MARK: CustomStringConvertible

extension TransportViolation: CustomStringConvertible {
    public var description: String { explanation }
}
