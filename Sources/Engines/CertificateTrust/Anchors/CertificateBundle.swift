// SPDX-License-Identifier: Apache-2.0

/// The certificates of a file: PEM with any other text and other kinds of blocks between, one certificate in DER, or those of PKCS #7.
///
/// One that cannot be read does not keep the others from being read.
public struct CertificateBundle: Sendable {
    public private(set) var certificates: [Certificate] = []
    /// What could not be read: which block of certificates it was, from 0, and what is wrong with it.
    public private(set) var rejected: [(index: Int, error: CertificateError)] = []

    /// Larger files are not read.
    public static let maxLength = 64 << 20

    /// - Parameter acceptsTrustedCertificates: whether OpenSSL's own kind of blocks is read, as if nothing stood behind the certificate. There may stand that it is
    ///   not to be trusted.
    public init(_ bytes: [UInt8], acceptsTrustedCertificates: Bool = true) {
        self.init(reading: bytes, acceptsTrustedCertificates: acceptsTrustedCertificates)
    }

    /// The same, of bytes that may hold secrets beside certificates: of these nothing is copied.
    public init(reading bytes: some RandomAccessCollection<UInt8>, acceptsTrustedCertificates: Bool = true) {
        let blocks = Self.blocks(bytes, acceptsTrustedCertificates: acceptsTrustedCertificates)
        if blocks.isEmpty, DERLength.startsWithCertificate(bytes) { take(Array(bytes), 0) }
        for (index, block) in blocks.enumerated() {
            if let der = block {
                take(der, index)
            } else {
                rejected.append(
                    (index, CertificateError("a block has no end, is no base64, or of a kind that is not taken here")))
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

    /// RFC 7468, and what older tools write.
    private static let labels = ["CERTIFICATE", "X509 CERTIFICATE", trusted, "PKCS7"]
    /// OpenSSL's own kind has settings behind the certificate, which are its own business.
    private static let trusted = "TRUSTED CERTIFICATE"

    /// The contents of the blocks of certificates; nil for one that has no end or is no base64.
    private static func blocks(_ bytes: some RandomAccessCollection<UInt8>, acceptsTrustedCertificates: Bool)
        -> [[UInt8]?]
    {
        PEMText.blocks(in: bytes, labels: labels).map { label, content in
            guard label == trusted else { return content }
            return acceptsTrustedCertificates ? content.flatMap { DERLength.first(in: $0) } : nil
        }
    }
}

/// How long the first element of some DER is.
private enum DERLength {
    /// Whether the bytes begin as a certificate or PKCS #7 does: a `SEQUENCE` of a `SEQUENCE` or of an identifier. Private keys begin with a number.
    static func startsWithCertificate(_ bytes: some RandomAccessCollection<UInt8>) -> Bool {
        guard bytes.count > 8, bytes.first == 0x30, let length = bytes.dropFirst().first else { return false }
        let header = length < 0x80 ? 2 : 2 + Int(length & 0x7F)
        return bytes.dropFirst(header).first.map { $0 == 0x30 || $0 == 0x06 } ?? false
    }

    /// The first element alone; nil where there is none.
    static func first(in der: [UInt8]) -> [UInt8]? {
        guard der.count >= 2 else { return nil }
        guard der[1] >= 0x80 else { return der.count >= 2 + Int(der[1]) ? Array(der.prefix(2 + Int(der[1]))) : nil }
        let digits = Int(der[1] & 0x7F)
        guard 1...4 ~= digits, der.count >= 2 + digits else { return nil }
        let length = der[2..<2 + digits].reduce(0) { $0 << 8 | Int($1) }
        return der.count - 2 - digits >= length ? Array(der.prefix(2 + digits + length)) : nil
    }
}
