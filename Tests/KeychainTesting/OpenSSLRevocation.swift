// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The revocation evidence of a CA, created by openssl: CRLs and OCSP responses.
public struct OpenSSLRevocation: Sendable {
    private let openssl: OpenSSL
    private let settings: String
    private let index: String

    /// - Parameter revoked: the certificates that are revoked.
    public init(
        _ authority: OpenSSLAuthority, revoked: [OpenSSLAuthority.IssuedCertificate],
        others: [OpenSSLAuthority.IssuedCertificate]
    ) throws {
        openssl = authority.openssl
        let name = UUID().uuidString
        (settings, index) = (openssl.path("\(name).cnf"), openssl.path("\(name).txt"))
        try Data("[ca]\ndefault_ca=own\n[own]\ndatabase=\(index)\ndefault_md=sha256\ndefault_crl_days=30\n".utf8).write(
            to: URL(filePath: settings))
        var lines = ""
        for (issued, isRevoked) in revoked.map({ ($0, true) }) + others.map({ ($0, false) }) {
            let output = String(
                decoding: try openssl.output(["x509", "-noout", "-serial", "-in", issued.file]), as: UTF8.self)
            let serial = (output.split(separator: "=").last ?? "").trimmingCharacters(in: .newlines)
            lines +=
                "\(isRevoked ? "R" : "V")\t491231235959Z\t\(isRevoked ? "260101000000Z" : "")\t\(serial)\tunknown\t/CN=any\n"
        }
        try Data(lines.utf8).write(to: URL(filePath: index))
    }

    /// Creates a CRL of the issuer; returns the path of a PEM file.
    ///
    /// - Parameters:
    ///   - extensions: lines of openssl's configuration.
    ///   - number: the value of the CRL number extension in the same syntax; nil for a CRL without
    ///     one.
    public func list(
        by issuer: OpenSSLAuthority.IssuedCertificate, extensions: String = "", number: String? = "DER:020101"
    ) throws -> String {
        let file = openssl.path("\(UUID().uuidString).crl")
        let lines = (number.map { "2.5.29.20=\($0)\n" } ?? "") + extensions
        var own = settings
        if !lines.isEmpty {
            own = try openssl.file(Data(contentsOf: URL(filePath: settings)) + Data("[more]\n\(lines)".utf8))
        }
        try openssl.output(
            ["ca", "-gencrl", "-config", own, "-keyfile", issuer.keyFile, "-cert", issuer.file, "-out", file]
                + (lines.isEmpty ? [] : ["-crlexts", "more"]))
        return file
    }

    /// Creates a CRL of the issuer; returns its DER.
    public func listBytes(by issuer: OpenSSLAuthority.IssuedCertificate, extensions: String = "") throws -> [UInt8] {
        try openssl.output(["crl", "-in", list(by: issuer, extensions: extensions), "-outform", "DER"])
    }

    /// Creates an OCSP response about a certificate of the issuer; returns the path of a DER file.
    public func answer(
        about issued: OpenSSLAuthority.IssuedCertificate, of issuer: OpenSSLAuthority.IssuedCertificate,
        signer: OpenSSLAuthority.IssuedCertificate, _ words: [String] = []
    ) throws -> String {
        let request = openssl.path("\(UUID().uuidString).req")
        try openssl.output(["ocsp", "-issuer", issuer.file, "-cert", issued.file, "-reqout", request, "-no_nonce"])
        return try answer(to: request, of: issuer, signer: signer, words)
    }

    /// Creates an OCSP response to an existing request; both are DER files.
    public func answer(
        to request: String, of issuer: OpenSSLAuthority.IssuedCertificate, signer: OpenSSLAuthority.IssuedCertificate,
        _ words: [String] = []
    ) throws -> String {
        let response = openssl.path("\(UUID().uuidString).resp")
        try openssl.output(
            [
                "ocsp", "-index", index, "-CA", issuer.file, "-rsigner", signer.file, "-rkey", signer.keyFile, "-reqin",
                request,
                "-respout",
                response,
            ] + (words.isEmpty ? ["-ndays", "2"] : words))
        return response
    }
}
