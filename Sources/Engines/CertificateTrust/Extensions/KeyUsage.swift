// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// The purposes that a key may be used for (RFC 5280, section 4.2.1.3).
public struct KeyUsage: OptionSet, Hashable, Sendable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let digitalSignature = KeyUsage(rawValue: 0x8000)
    public static let contentCommitment = KeyUsage(rawValue: 0x4000)
    public static let keyEncipherment = KeyUsage(rawValue: 0x2000)
    public static let dataEncipherment = KeyUsage(rawValue: 0x1000)
    public static let keyAgreement = KeyUsage(rawValue: 0x0800)
    public static let keyCertSign = KeyUsage(rawValue: 0x0400)
    public static let crlSign = KeyUsage(rawValue: 0x0200)
    public static let encipherOnly = KeyUsage(rawValue: 0x0100)
    public static let decipherOnly = KeyUsage(rawValue: 0x0080)

    init(_ node: ASN1Node) throws {
        let bytes = Array(try ASN1BitString(derEncoded: node, withIdentifier: .bitString).bytes)
        guard bytes.count <= 2 else { throw CertificateError("a key usage has more than 16 bits") }
        rawValue = UInt16(bytes.first ?? 0) << 8 | UInt16(bytes.count == 2 ? bytes[1] : 0)
        guard rawValue != 0 else { throw CertificateError("a key usage is empty") }
    }
}

// MARK: CustomStringConvertible

extension KeyUsage: CustomStringConvertible {
    /// The names of RFC 5280: `digitalSignature, keyCertSign`.
    public var description: String {
        Self.names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }

    private static let names: [(KeyUsage, String)] = [
        (.digitalSignature, "digitalSignature"), (.contentCommitment, "contentCommitment"),
        (.keyEncipherment, "keyEncipherment"),
        (.dataEncipherment, "dataEncipherment"), (.keyAgreement, "keyAgreement"), (.keyCertSign, "keyCertSign"),
        (.crlSign, "cRLSign"),
        (.encipherOnly, "encipherOnly"), (.decipherOnly, "decipherOnly"),
    ]
}
