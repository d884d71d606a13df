// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// An X.509 certificate. Two are equal when their bytes are.
///
/// ```swift
/// guard let certificate = SecCertificateCreateWithData(nil, der as CFData) else { throw NotACertificate() }
/// ```
public final class SecCertificate: NSObject, Sendable {
    /// The certificate as it was given: one DER `SEQUENCE` and nothing after it.
    let der: Data

    /// Nil unless the bytes have the outer shape of a certificate, see `CertificateShape`.
    init?(der: Data) {
        guard CertificateShape.matches(der) else { return nil }
        self.der = der
        super.init()
    }

    public override func isEqual(_ object: Any?) -> Bool {
        (object as? SecCertificate)?.der == der
    }

    public override var hash: Int {
        der.hashValue
    }

    public override var description: String {
        "<SecCertificate: \(der.count) bytes>"
    }
}

extension SecCertificate: CoreFoundationType {
    static var typeID: CFTypeID { TypeIdentifier.certificate.rawValue }
}

/// A certificate from its DER bytes; nil when they are no certificate. PEM text has to be decoded first.
///
/// Only the outer shape is looked at here. Whether the certificate is any good is for `SecTrust` to say.
@discardableResult
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    // A copy, because the caller's object may be an NSMutableData.
    SecCertificate(der: Data(bytes: data.bytes, count: data.length))
}

/// The certificate's DER bytes, exactly as they were given.
@discardableResult
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData {
    NSData(data: certificate.der)
}

/// What `CFGetTypeID` gives for a `SecCertificate`.
@discardableResult
public func SecCertificateGetTypeID() -> CFTypeID {
    SecCertificate.typeID
}

/// The outer shape of a certificate (RFC 5280, section 4.1): one `SEQUENCE` that fills the input, of what is signed (a `SEQUENCE`), the
/// signature algorithm (a `SEQUENCE`) and the signature (a `BIT STRING`). Total over any bytes.
private enum CertificateShape {
    private static let sequence: UInt8 = 0x30
    private static let bitString: UInt8 = 0x03

    static func matches(_ data: Data) -> Bool {
        let bytes = [UInt8](data)
        guard let outer = element(in: bytes[...]), outer.tag == sequence, outer.rest.isEmpty else { return false }
        var tags: [UInt8] = []
        var rest = outer.content
        while !rest.isEmpty {
            guard let member = element(in: rest) else { return false }
            tags.append(member.tag)
            rest = member.rest
        }
        return tags == [sequence, sequence, bitString]
    }

    /// The element at the start of the bytes. DER allows definite lengths only, in the fewest bytes (X.690, section 10.1); four bytes of
    /// length are as many as a certificate can need.
    private static func element(in bytes: ArraySlice<UInt8>) -> (tag: UInt8, content: ArraySlice<UInt8>, rest: ArraySlice<UInt8>)? {
        guard let tag = bytes.first, tag & 0x1F != 0x1F, let first = bytes.dropFirst().first else { return nil }
        var body = bytes.dropFirst(2)
        var length = Int(first)
        if first >= 0x80 {
            let lengthBytes = body.prefix(Int(first & 0x7F))
            guard 1...4 ~= Int(first & 0x7F), lengthBytes.count == Int(first & 0x7F), lengthBytes.first != 0 else { return nil }
            length = lengthBytes.reduce(0) { $0 << 8 | Int($1) }
            guard length >= 0x80 else { return nil }
            body = body.dropFirst(lengthBytes.count)
        }
        guard length <= body.count else { return nil }
        return (tag, body.prefix(length), body.dropFirst(length))
    }
}
