// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

@testable import CertificateTrust

/// The system's anchors are found, read leniently, cached, and read again when they change.
@Suite("System anchors")
struct SystemAnchorsTests {
    private let folder: TemporaryDirectory
    private let authority: OpenSSLAuthority

    init() throws {
        folder = try TemporaryDirectory()
        authority = try OpenSSLAuthority()
    }

    private func write(_ name: String, _ text: String) throws -> String {
        let path = "\(folder.path)/\(name)"
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    private func pem(_ issued: OpenSSLAuthority.IssuedCertificate) throws -> String {
        try String(contentsOfFile: issued.file, encoding: .utf8)
    }

    @Test("All certificates of the distribution's bundle are read")
    func distribution() throws {
        let loaded = SystemAnchors { .standard }.load()
        let text = try String(contentsOfFile: "/etc/ssl/certs/ca-certificates.crt", encoding: .utf8)
        #expect(loaded.certificates.count == text.components(separatedBy: "-----BEGIN CERTIFICATE-----").count - 1)
        #expect(loaded.errors.isEmpty && loaded.certificates.count > 50)
    }

    @Test(
        "Garbage, truncated or foreign PEM blocks and carriage returns do not affect the other certificates"
    )
    func lenient() throws {
        let (root, intermediate) = (try pem(authority.root), try pem(authority.intermediate))
        let trusted = String(
            decoding: try authority.openssl.output([
                "x509", "-in", authority.root.file, "-trustout", "-addtrust", "serverAuth",
            ]),
            as: UTF8.self)
        #expect(trusted.contains("TRUSTED CERTIFICATE"))
        let key = try String(contentsOfFile: authority.root.keyFile, encoding: .utf8)
        let odd = """
            # A comment
            -----BEGIN CERTIFICATE-----
            AAAA
            -----END CERTIFICATE-----
            \(key)-----BEGIN CERTIFICATE-----
            no base64, never!!=
            -----END CERTIFICATE-----
            \(root.replacingOccurrences(of: "\n", with: "\r\n"))
            -----BEGIN CERTIFICATE-----
            MIIB
            \(intermediate)
            \(trusted)
            -----BEGIN CERTIFICATE-----
            MIIB
            """
        let bundle = CertificateBundle(Array(odd.utf8))
        #expect(
            bundle.certificates.map { Data($0.der) } == [
                authority.root.der, authority.intermediate.der, authority.root.der,
            ])
        #expect(bundle.rejected.map(\.index) == [0, 1, 3, 6])
        #expect(CertificateBundle(Array(authority.root.der)).certificates.count == 1)
        for nothing in ["", "text", "-----BEGIN CERTIFICATE-----", "-----BEGIN -----\n-----END -----"] {
            #expect(CertificateBundle(Array(nothing.utf8)).certificates.isEmpty)
        }
        for count in 0..<root.utf8.count {
            #expect(CertificateBundle(Array(root.utf8.prefix(count))).certificates.count <= 1)
        }
    }

    @Test("The named files and directories are read, each file once; missing files are reported")
    func places() throws {
        let file = try write("a.pem", pem(authority.root))
        try FileManager.default.createSymbolicLink(atPath: "\(folder.path)/link.0", withDestinationPath: file)
        _ = try write("b.crt", pem(authority.intermediate))
        let both = SystemAnchors { [path = folder.path] in .init(files: [file], directories: [path]) }.load()
        #expect(Set(both.certificates.map { Data($0.der) }) == [authority.root.der, authority.intermediate.der])
        #expect(both.certificates.count == 2 && both.errors.isEmpty)
        let missing = SystemAnchors { .init(files: ["/nowhere/at/all.pem"], directories: []) }.load()
        #expect(
            missing.certificates.isEmpty
                && missing.errors == ["/nowhere/at/all.pem: cannot be read as a file of at most 64 MiB"])
    }

    @Test("The anchors are cached until a file is changed, added or removed")
    func reload() throws {
        let file = try write("a.pem", pem(authority.root))
        let anchors = SystemAnchors { [path = folder.path] in .init(files: [], directories: [path]) }
        let first = anchors.load()
        #expect(first.certificates.count == 1)
        #expect(anchors.load().certificates.first === first.certificates.first)
        _ = try write("b.pem", pem(authority.intermediate))
        #expect(anchors.load().certificates.count == 2)
        _ = try write("a.pem", pem(authority.intermediate) + pem(authority.root))
        #expect(anchors.load().certificates.map { Data($0.der) } == [authority.intermediate.der, authority.root.der])
        try FileManager.default.removeItem(atPath: file)
        #expect(anchors.load().certificates.map { Data($0.der) } == [authority.intermediate.der])
    }
}
