// SPDX-License-Identifier: Apache-2.0

extension ObjectIdentifier {
    /// The name of an extended key usage as openssl has it, `serverAuth`; the arcs where it has none here.
    public var usageName: String { Self.usages[self] ?? description }

    private static let usages: [ObjectIdentifier: String] = [
        .anyExtendedKeyUsage: "anyExtendedKeyUsage", .serverAuthentication: "serverAuth",
        .clientAuthentication: "clientAuth",
        .codeSigning: "codeSigning", .emailProtection: "emailProtection", .timeStamping: "timeStamping",
        .ocspSigning: "OCSPSigning",
    ]
}
