// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust

/// The requirements on a connection with TLS, beside the evaluation of the server's certificates.
public struct TLSRequirements: Hashable, Sendable {
    public let server: ServerName
    public var minimumVersion = TLSVersion.tls12
    /// Whether the suite must be one of ``CipherSuite/forwardSecret``.
    public var requiresForwardSecrecy = true
    /// Whether the leaf's key must be RSA with at least ``minRSABits``, or on a curve with at least
    /// ``minCurveBits``.
    public var requiresStrongKey = true
    /// Whether the leaf must be signed with SHA-256 or a longer hash of its family.
    public var requiresStrongHash = true
    public var requiresCertificateTransparency = false
    /// Whether App Transport Security leaves it to the program to accept a server without a valid chain:
    /// where it allows insecure loads of the host. It does not if there are ``pins``.
    public var allowsUntrustedServers = false
    /// The pins of the host: those of the property list, and those of the program. All must match.
    public var pins: [PinSet] = []

    public static let minRSABits = 2048
    public static let minCurveBits = 256

    /// The requirements of App Transport Security without exceptions and pins.
    public init(_ server: ServerName) { self.server = server }

    /// Whether the program may accept a server with untrusted certificates.
    public var leavesTrustToProgram: Bool { allowsUntrustedServers && pins.isEmpty }

    /// The suites for the configuration of TLS 1.2 and older. TLS 1.3's are always allowed.
    public var suites: [CipherSuite] { requiresForwardSecrecy ? CipherSuite.forwardSecret : CipherSuite.all }
}
