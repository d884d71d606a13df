// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting

/// The files that recipes find in their working directory, made once by openssl.
/// `Recipes/README.md` lists them.
struct RecipeFixtures: Sendable {
    static let shared = Result { try RecipeFixtures() }

    private let files: [String: Data]

    /// Writes the files into a directory.
    func write(to directory: String) throws {
        for (name, content) in files { try content.write(to: URL(filePath: "\(directory)/\(name)")) }
    }

    private init() throws {
        let authority = try OpenSSLAuthority()
        let openssl = authority.openssl
        var files: [String: Data] = [:]

        let otherRoot = try authority.issue("/CN=Other root", Self.authority, by: nil)
        let roots = [authority.root.der, otherRoot.der]
        files["root.pem"] = try Self.content(authority.root.file)
        files["root.der"] = authority.root.der
        files["system-roots.pem"] = try Self.content(authority.root.file) + Self.content(otherRoot.file)
        let hashes = try roots.map { try Self.sha1(of: $0, openssl).uppercased() }
        files["system-roots.sha1"] = Data(hashes.sorted().map { "\($0)\n" }.joined().utf8)

        let local = try authority.issue("/CN=Local development CA", Self.authority, by: nil)
        let server = OpenSSLAuthority.server("DNS:localhost,IP:127.0.0.1")
        files["ca.pem"] = try Self.content(local.file)
        files["ca.der"] = local.der
        files["ca.sha1"] = Data("\(try Self.sha1(of: local.der, openssl))\n".utf8)
        files["local.pem"] = try Self.content(authority.issue("/CN=localhost", server, by: local).file)

        let developer = try authority.issue(
            "/CN=Developer ID Application: Example (ABCDE12345)", Self.leaf("codeSigning"), key: Self.rsa,
            by: authority.root)
        files["developer.pem"] = try Self.content(developer.file)
        files["developer.der"] = developer.der
        files["developer.key"] = try Self.content(developer.keyFile)
        files["developer.pub"] = Data(
            try openssl.output(["pkey", "-in", developer.keyFile, "-pubout", "-outform", "DER"]))
        files["developer.p12"] = try Self.identity(developer, openssl)

        let distribution = try authority.issue(
            "/CN=Apple Distribution: Example (ABCDE12345)", Self.leaf("codeSigning"), key: Self.rsa,
            by: authority.intermediate)
        files["distribution.p12"] = try Self.identity(distribution, openssl, chain: authority.intermediate.file)

        let mail = try authority.issue(
            "/CN=Alice Example", Self.leaf("emailProtection") + "subjectAltName=email:alice@example.com\n",
            key: Self.rsa, by: authority.root)
        files["mail.pem"] = try Self.content(mail.file)
        files["mail.key"] = try Self.content(mail.keyFile)
        files["mail.p12"] = try Self.identity(mail, openssl)

        let profile = Self.profile(for: developer)
        files["profile.plist"] = profile
        files["profile.mobileprovision"] = Data(
            try openssl.output([
                "cms", "-sign", "-nodetach", "-binary", "-in", openssl.file(profile), "-signer", developer.file,
                "-inkey", developer.keyFile, "-outform", "DER",
            ]))
        self.files = files
    }

    // MARK: Parts

    private static func content(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }

    /// Returns the SHA-1 of a certificate, in lowercase hexadecimal.
    private static func sha1(of certificate: Data, _ openssl: OpenSSL) throws -> String {
        let line = try openssl.output(["dgst", "-sha1", "-r", openssl.file(certificate)])
        return String(decoding: line.prefix(40), as: UTF8.self)
    }

    /// Returns a PKCS#12 file.
    ///
    /// - Parameter chain: the file of a certificate to add.
    private static func identity(
        _ issued: OpenSSLAuthority.IssuedCertificate, _ openssl: OpenSSL, chain: String? = nil
    ) throws -> Data {
        let path = openssl.path("\(UUID().uuidString).p12")
        var words = ["pkcs12", "-export", "-inkey", issued.keyFile, "-in", issued.file]
        if let chain { words += ["-certfile", chain] }
        try openssl.output(words + ["-passout", "pass:p12 s3cret", "-out", path])
        return try content(path)
    }

    /// Returns the property list of a provisioning profile for this certificate.
    private static func profile(for developer: OpenSSLAuthority.IssuedCertificate) -> Data {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0">
            <dict>
            \t<key>Name</key>
            \t<string>Example Development</string>
            \t<key>UUID</key>
            \t<string>01234567-89AB-CDEF-0123-456789ABCDEF</string>
            \t<key>TeamIdentifier</key>
            \t<array>
            \t\t<string>ABCDE12345</string>
            \t</array>
            \t<key>DeveloperCertificates</key>
            \t<array>
            \t\t<data>\(developer.der.base64EncodedString())</data>
            \t</array>
            </dict>
            </plist>

            """
        return Data(text.utf8)
    }

    private static let authority =
        "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\nsubjectKeyIdentifier=hash\n"

    private static func leaf(_ usage: String) -> String {
        """
        basicConstraints=CA:FALSE
        keyUsage=critical,digitalSignature,keyEncipherment
        extendedKeyUsage=\(usage)
        subjectKeyIdentifier=hash
        authorityKeyIdentifier=keyid

        """
    }

    private static let rsa = ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]
}
