// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import Foundation
import KeychainTesting
import Testing

/// Logs with keys that openssl made, and certificates with their timestamps.
struct LogLab {
    private let openssl: OpenSSL
    /// The files of the private keys.
    private let keys: [String]
    let logs: CertificateLogList

    init(_ openssl: OpenSSL) throws {
        self.openssl = openssl
        let keys = (0..<2).map { _ in openssl.path("log-\(UUID().uuidString).key") }
        for key in keys { try openssl.output(["genpkey", "-out", key] + OpenSSLAuthority.p256) }
        self.keys = keys
        logs = CertificateLogList(
            try keys.enumerated().map { number, key in
                try CertificateLog(
                    key: Self.publicKey(key, openssl), name: "log \(number)", operatorName: "operator \(number)")
            })
    }

    private static func publicKey(_ key: String, _ openssl: OpenSSL) throws -> [UInt8] {
        try openssl.output(["pkey", "-in", key, "-pubout", "-outform", "DER"])
    }

    /// Adds the timestamps of both logs to the certificate, and signs it again.
    ///
    /// - Returns: the file of the new certificate, in PEM.
    func log(_ plain: OpenSSLAuthority.IssuedCertificate, by issuer: OpenSSLAuthority.IssuedCertificate) throws
        -> String
    {
        let parts = try Self.members(Array(plain.der))
        let body = parts[0]
        let issuerKey = try issuer.parsed().publicKey.sha256
        let time = UInt64(Date().timeIntervalSince1970) * 1000 - 60_000
        let entries = try keys.flatMap { key in
            let start = Self.number(time, 8)
            let message = [0, 0] + start + [0, 1] + issuerKey + Self.vector(3, body) + [0, 0]
            let identifier = try openssl.output([
                "dgst", "-sha256", "-binary", openssl.file(Self.publicKey(key, openssl)),
            ])
            return Self.vector(
                2, [0] + identifier + start + [0, 0, 4, 3] + Self.vector(2, try self.signature(of: message, key)))
        }
        let identifier: [UInt8] = [0x06, 0x0A, 0x2B, 0x06, 0x01, 0x04, 0x01, 0xD6, 0x79, 0x02, 0x04, 0x02]
        let list = Self.element(0x30, identifier + Self.element(4, Self.element(4, Self.vector(2, entries))))
        var fields = try Self.members(body)
        let extensions = try Self.members(try Self.members(fields.removeLast())[0])
        fields.append(Self.element(0xA3, Self.element(0x30, extensions.flatMap { $0 } + list)))
        let logged = Self.element(0x30, fields.flatMap { $0 })
        let signature = Self.element(3, [0] + (try self.signature(of: logged, issuer.keyFile)))
        let der = try openssl.file(Self.element(0x30, logged + parts[1] + signature))
        return try openssl.file(openssl.output(["x509", "-inform", "DER", "-in", der]))
    }

    private func signature(of message: [UInt8], _ key: String) throws -> [UInt8] {
        try openssl.output(["dgst", "-sha256", "-sign", key, openssl.file(message)])
    }

    // MARK: DER

    private static func number(_ number: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
    }

    private static func vector(_ count: Int, _ bytes: [UInt8]) -> [UInt8] { number(UInt64(bytes.count), count) + bytes }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length: [UInt8] =
            switch content.count {
            case ..<0x80: [UInt8(content.count)]
            case ..<0x100: [0x81, UInt8(content.count)]
            default: [0x82] + number(UInt64(content.count), 2)
            }
        return [tag] + length + content
    }

    /// The elements in a constructed element of at most 65,535 bytes.
    private static func members(_ element: [UInt8]) throws -> [[UInt8]] {
        var (members, rest) = ([[UInt8]](), element.dropFirst(try length(element[...]).header))
        while !rest.isEmpty {
            let (header, content) = try length(rest)
            members.append(Array(rest.prefix(header + content)))
            rest = rest.dropFirst(header + content)
        }
        return members
    }

    private static func length(_ element: ArraySlice<UInt8>) throws -> (header: Int, content: Int) {
        let first = try #require(element.dropFirst().first)
        guard first >= 0x80 else { return (2, Int(first)) }
        let digits = element.dropFirst(2).prefix(Int(first & 0x7F))
        return (2 + digits.count, digits.reduce(0) { $0 << 8 | Int($1) })
    }
}
