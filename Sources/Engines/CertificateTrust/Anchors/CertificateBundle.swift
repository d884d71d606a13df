// SPDX-License-Identifier: Apache-2.0

/// The certificates of a file: PEM, which may contain other text and other blocks, one certificate
/// in DER, or PKCS #7.
///
/// A certificate that cannot be read does not prevent the others from being read.
public struct CertificateBundle: Sendable {
    public private(set) var certificates: [Certificate] = []
    /// The certificates that could not be read: the index of the block, from 0, and the error.
    public private(set) var rejected: [(index: Int, error: CertificateError)] = []

    /// The maximum size of a file, in bytes. Larger files are not read.
    public static let maxLength = 64 << 20

    /// - Parameter acceptsTrustedCertificates: whether OpenSSL's `TRUSTED CERTIFICATE` blocks are
    ///   read. The trust settings after the certificate are ignored, even if they say that it is
    ///   not trusted.
    public init(_ bytes: [UInt8], acceptsTrustedCertificates: Bool = true) {
        self.init(reading: bytes, acceptsTrustedCertificates: acceptsTrustedCertificates)
    }

    /// The same, for bytes that may also hold secrets: only blocks of certificates are copied.
    public init(reading bytes: some RandomAccessCollection<UInt8>, acceptsTrustedCertificates: Bool = true) {
        let blocks = Self.blocks(bytes, acceptsTrustedCertificates: acceptsTrustedCertificates)
        if blocks.isEmpty, DERLength.startsWithCertificate(bytes) { take(Array(bytes), 0) }
        for (index, block) in blocks.enumerated() {
            if let der = block {
                take(der, index)
            } else {
                rejected.append(
                    (index, CertificateError("a PEM block has no end, is not base64, or is of an unsupported kind")))
            }
        }
    }

    private mutating func take(_ der: [UInt8], _ index: Int) {
        if let several = Self.certificates(ofPKCS7: der) {
            for each in several { take(each, index) }
            return
        }
        do throws(CertificateError) {
            certificates.append(try Certificate(der: der))
        } catch {
            rejected.append((index, error))
        }
    }

    // MARK: PEM

    /// The labels of RFC 7468 and of older tools.
    private static let labels = ["CERTIFICATE", "X509 CERTIFICATE", trusted, "PKCS7"]
    /// OpenSSL's own kind of block: its trust settings follow the certificate and are ignored.
    private static let trusted = "TRUSTED CERTIFICATE"

    /// The contents of the blocks of certificates; nil for a block without an end or in invalid
    /// base64.
    private static func blocks(_ bytes: some RandomAccessCollection<UInt8>, acceptsTrustedCertificates: Bool)
        -> [[UInt8]?]
    {
        PEMText.blocks(in: bytes, labels: labels).map { label, content in
            guard label == trusted else { return content }
            return acceptsTrustedCertificates ? content.flatMap { DERLength.first(in: $0) } : nil
        }
    }
}

/// Finds the first DER element of some bytes.
private enum DERLength {
    /// Whether the bytes start like a certificate or PKCS #7: a `SEQUENCE` that starts with a
    /// `SEQUENCE` or an object identifier. A private key starts with an `INTEGER`.
    static func startsWithCertificate(_ bytes: some RandomAccessCollection<UInt8>) -> Bool {
        guard bytes.count > 8, bytes.first == 0x30, let length = bytes.dropFirst().first else { return false }
        let header = length < 0x80 ? 2 : 2 + Int(length & 0x7F)
        return bytes.dropFirst(header).first.map { $0 == 0x30 || $0 == 0x06 } ?? false
    }

    /// The first element, without the bytes after it; nil if it is not complete.
    static func first(in der: [UInt8]) -> [UInt8]? {
        guard der.count >= 2 else { return nil }
        guard der[1] >= 0x80 else { return der.count >= 2 + Int(der[1]) ? Array(der.prefix(2 + Int(der[1]))) : nil }
        let digits = Int(der[1] & 0x7F)
        guard 1...4 ~= digits, der.count >= 2 + digits else { return nil }
        let length = der[2..<2 + digits].reduce(0) { $0 << 8 | Int($1) }
        return der.count - 2 - digits >= length ? Array(der.prefix(2 + digits + length)) : nil
    }
}
