// SPDX-License-Identifier: Apache-2.0

extension ObjectIdentifier {
    /// openssl's name of an extended key usage, such as `serverAuth`, or the arcs if it has no name
    /// here.
    public var usageName: String { Self.usages[self] ?? description }

    private static let usages: [ObjectIdentifier: String] = [
        .anyExtendedKeyUsage: "anyExtendedKeyUsage", .serverAuthentication: "serverAuth",
        .clientAuthentication: "clientAuth",
        .codeSigning: "codeSigning", .emailProtection: "emailProtection", .timeStamping: "timeStamping",
        .ocspSigning: "OCSPSigning",
    ]
}
