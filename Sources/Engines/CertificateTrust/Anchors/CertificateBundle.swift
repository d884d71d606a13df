// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// The certificates of a file: PEM (also with other text and other blocks), one certificate in DER, or PKCS #7.
///
/// A certificate that cannot be read does not prevent the others from being read. Nothing is left out in silence:
/// ``rejected`` has the damaged parts, and ``notes`` the parts that may have been a certificate.
public struct CertificateBundle: Sendable {
    public private(set) var certificates: [Certificate] = []
    /// The certificates that could not be read, and damaged blocks that may have been one.
    public private(set) var rejected: [Rejection] = []
    /// A sentence for each block with an unknown label, for PKCS #7 without certificates, and for data
    /// outside of blocks.
    public private(set) var notes: [String] = []

    /// A certificate that could not be read.
    public struct Rejection: Sendable {
        /// The number of the file's certificates before it, including those that cannot be read.
        public let index: Int
        /// The number of the line with its BEGIN, from 1; nil in DER.
        public let line: Int?
        public let error: CertificateError
        fileprivate let isCertificate: Bool

        /// Where it is: `certificate 2 (line 31)`.
        public var place: String {
            guard let line else { return "certificate \(index + 1)" }
            return isCertificate ? "certificate \(index + 1) (line \(line))" : "line \(line)"
        }
    }

    /// The maximum size of a file, in bytes. Larger files are not read.
    public static let maxLength = 64 << 20

    /// - Parameter acceptsTrustedCertificates: whether OpenSSL's `TRUSTED CERTIFICATE` blocks are
    ///   read. The trust settings after the certificate are ignored, even if they say that it is
    ///   not trusted.
    public init(_ bytes: [UInt8], acceptsTrustedCertificates: Bool = true) {
        self = bytes.withUnsafeBytes {
            CertificateBundle(reading: $0, acceptsTrustedCertificates: acceptsTrustedCertificates)
        }
    }

    /// The same, for bytes that may also hold secrets: only blocks of certificates are copied.
    public init(reading bytes: UnsafeRawBufferPointer, acceptsTrustedCertificates: Bool = true) {
        if PEMBlocks.isDER(bytes) {
            // A private key in DER is not copied.
            if DERLength.startsWithCertificate(bytes) { take(Array(bytes), 0, nil) }
            return
        }
        var index = 0
        for (line, part) in PEMText.parts(in: bytes, labels: Self.labels) {
            switch part {
            case .block(Self.trusted, let content):
                if acceptsTrustedCertificates, let der = DERLength.first(in: content) {
                    take(der, index, line)
                } else {
                    let error = CertificateError("a block of the kind \(Self.trusted) is not accepted here")
                    rejected.append(Rejection(index: index, line: line, error: error, isCertificate: true))
                }
                index += 1
            case .block(_, let content):
                take(content, index, line)
                index += 1
            case .damaged(let error, let isWanted):
                rejected.append(Rejection(index: index, line: line, error: error, isCertificate: isWanted))
                if isWanted { index += 1 }
            case .unknown(let error): notes.append("line \(line): \(error)")
            }
        }
    }

    private mutating func take(_ der: [UInt8], _ index: Int, _ line: Int?) {
        if let several = Self.certificates(ofPKCS7: der) {
            for each in several { take(each, index, line) }
            if several.isEmpty { notes.append("\(line.map { "line \($0): " } ?? "")PKCS #7 without certificates") }
            return
        }
        do throws(CertificateError) {
            certificates.append(try Certificate(der: der))
        } catch {
            rejected.append(Rejection(index: index, line: line, error: error, isCertificate: true))
        }
    }

    /// The labels of RFC 7468 and of older tools.
    private static let labels = [
        "CERTIFICATE", "X509 CERTIFICATE", trusted, "PKCS7", "CMS", "PKCS #7 SIGNED DATA",
    ]
    /// OpenSSL's own kind of block: its trust settings follow the certificate and are ignored.
    private static let trusted = "TRUSTED CERTIFICATE"
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
        guard 1...4 ~= digits, der.count >= 2 + digits, let length = Int(bigEndianBytes: der[2..<2 + digits]) else {
            return nil
        }
        return der.count - 2 - digits >= length ? Array(der.prefix(2 + digits + length)) : nil
    }
}
