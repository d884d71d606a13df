// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Synchronization

/// A root, an intermediate and the certificates that they issue, all created by openssl.
public final class OpenSSLAuthority: Sendable {
    public let openssl: OpenSSL
    public let root: IssuedCertificate
    public let intermediate: IssuedCertificate

    /// A certificate with its key, as files.
    public struct IssuedCertificate: Sendable {
        /// PEM.
        public let file: String
        /// PEM of PKCS #8.
        public let keyFile: String
        public let der: Data
    }

    private static let authority =
        "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\nsubjectKeyIdentifier=hash\n"
    private let number = Atomic(0)

    /// - Parameter key: arguments of `openssl genpkey`.
    public init(key: [String] = OpenSSLAuthority.p256) throws {
        let openssl = try OpenSSL()
        self.openssl = openssl
        root = try Self.make(openssl, "/CN=Test root", key, "root", Self.authority, by: nil, days: 3650)
        intermediate = try Self.make(
            openssl, "/CN=Test intermediate", key, "intermediate", Self.authority + "authorityKeyIdentifier=keyid\n",
            by: root, days: 3650)
    }

    public static let p256 = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]

    /// Returns the extensions of a server certificate for these names, such as
    /// `DNS:example.com,IP:127.0.0.1`.
    public static func server(_ names: String) -> String {
        """
        basicConstraints=CA:FALSE
        keyUsage=critical,digitalSignature
        extendedKeyUsage=serverAuth
        subjectKeyIdentifier=hash
        authorityKeyIdentifier=keyid
        subjectAltName=\(names)

        """
    }

    /// Issues a certificate.
    ///
    /// - Parameters:
    ///   - extensions: lines of openssl's configuration.
    ///   - days: the validity period; negative for an expired certificate.
    ///   - digest: the hash of the signature.
    ///   - issuer: nil for a self-signed certificate.
    public func issue(
        _ subject: String, _ extensions: String, days: Int = 90, key: [String] = OpenSSLAuthority.p256,
        digest: String = "-sha256", by issuer: IssuedCertificate?
    ) throws -> IssuedCertificate {
        let name = "leaf\(number.add(1, ordering: .relaxed).newValue)"
        return try Self.make(openssl, subject, key, name, extensions, by: issuer, days: days, digest: digest)
    }

    /// Issues a certificate for a public key; the private key is elsewhere. Returns its DER.
    ///
    /// - Parameters:
    ///   - publicKey: PEM.
    ///   - extensions: lines of openssl's configuration.
    ///   - days: the validity period; negative for an expired certificate.
    public func issue(
        _ subject: String, _ extensions: String, days: Int = 30, publicKey: Data, by issuer: IssuedCertificate
    ) throws -> Data {
        let (key, settings) = (try openssl.file(publicKey), try openssl.file(Array(extensions.utf8)))
        return Data(
            try openssl.output([
                "x509", "-new", "-force_pubkey", key, "-subj", subject, "-CA", issuer.file, "-CAkey", issuer.keyFile,
                "-extfile", settings, "-days", "\(days)", "-outform", "DER",
            ]))
    }

    public func server(_ name: String, days: Int = 90) throws -> IssuedCertificate {
        try issue("/CN=\(name)", Self.server("DNS:\(name)"), days: days, by: intermediate)
    }

    private static func make(
        _ openssl: OpenSSL, _ subject: String, _ key: [String], _ name: String, _ extensions: String,
        by issuer: IssuedCertificate?, days: Int, digest: String = "-sha256"
    ) throws -> IssuedCertificate {
        let (file, keyFile, request) = (
            openssl.path("\(name).pem"), openssl.path("\(name).key"), openssl.path("\(name).csr")
        )
        let settings = openssl.path("\(name).cnf")
        try Data(extensions.utf8).write(to: URL(filePath: settings))
        try openssl.output(["genpkey", "-out", keyFile] + key)
        try openssl.output(["req", "-new", "-key", keyFile, "-subj", subject, "-out", request])
        let signer =
            issuer.map {
                ["-CA", $0.file, "-CAkey", $0.keyFile, "-set_serial", "\(UInt64.random(in: 1...UInt64(Int64.max)))"]
            } ?? [
                "-signkey", keyFile,
            ]
        try openssl.output(
            ["x509", "-req", "-in", request, "-out", file, "-days", "\(days)", digest, "-extfile", settings] + signer
        )
        return IssuedCertificate(
            file: file, keyFile: keyFile, der: Data(try openssl.output(["x509", "-in", file, "-outform", "DER"])))
    }
}
