// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// The certificates of a file: PEM with any other text and other kinds of blocks between, one certificate in DER, or those of PKCS #7.
///
/// One that cannot be read does not keep the others from being read.
public struct CertificateBundle: Sendable {
    public private(set) var certificates: [Certificate] = []
    /// What could not be read: which block of certificates it was, from 0, and what is wrong with it.
    public private(set) var rejected: [(index: Int, error: CertificateError)] = []

    /// Larger files are not read.
    public static let greatestLength = 64 << 20

    public init(_ bytes: [UInt8]) {
        let blocks = Self.blocks(bytes)
        // A certificate in DER is a sequence.
        if blocks.isEmpty, bytes.first == 0x30 { take(bytes, 0) }
        for (index, block) in blocks.enumerated() {
            if let der = block {
                take(der, index)
            } else {
                rejected.append((index, CertificateError("a block has no end, or its content is no base64")))
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
    private static let labels = ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE", "PKCS7"]

    /// The contents of the blocks of certificates; nil for one that has no end or is no base64.
    private static func blocks(_ bytes: [UInt8]) -> [[UInt8]?] {
        var blocks: [[UInt8]?] = []
        var label: String?
        var body = Data()
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            if line.first == UInt8(ascii: "-"), let mark = BlockMark(line) {
                switch mark {
                case .begin(let name):
                    if label != nil { blocks.append(nil) }
                    label = labels.contains(name) ? name : nil
                    body.removeAll(keepingCapacity: true)
                case .end(let name):
                    if label != nil { blocks.append(name == label ? content(body, isTrusted: name == labels[2]) : nil) }
                    label = nil
                }
            } else if label != nil {
                body.append(contentsOf: line)
            }
        }
        if label != nil { blocks.append(nil) }
        return blocks
    }

    private static func content(_ base64: Data, isTrusted: Bool) -> [UInt8]? {
        guard let data = Data(base64Encoded: base64, options: .ignoreUnknownCharacters) else { return nil }
        let der = Array(data)
        // OpenSSL's own kind has settings behind the certificate, which are its own business.
        return isTrusted ? DERLength.first(in: der) : der
    }

    private enum BlockMark {
        case begin(String)
        case end(String)

        init?(_ line: ArraySlice<UInt8>) {
            guard line.count <= 100 else { return nil }
            let text = String(decoding: line, as: UTF8.self).trimmingSuffix { $0.isWhitespace }
            guard text.hasSuffix("-----") else { return nil }
            if text.hasPrefix("-----BEGIN "), text.count > 16 {
                self = .begin(String(text.dropFirst(11).dropLast(5)))
            } else if text.hasPrefix("-----END "), text.count > 14 {
                self = .end(String(text.dropFirst(9).dropLast(5)))
            } else {
                return nil
            }
        }
    }
}

extension String {
    fileprivate func trimmingSuffix(while predicate: (Character) -> Bool) -> String {
        var rest = self[...]
        while let last = rest.last, predicate(last) { rest.removeLast() }
        return String(rest)
    }
}

/// How long the first element of some DER is.
private enum DERLength {
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
