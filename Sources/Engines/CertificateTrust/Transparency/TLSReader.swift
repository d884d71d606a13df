// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// Reads numbers and vectors in the presentation language of TLS (RFC 8446, section 3).
struct TLSReader {
    private var fields: FieldReader<ArraySlice<UInt8>>

    init(_ bytes: [UInt8]) { fields = FieldReader(bytes) }

    var isAtEnd: Bool { fields.isAtEnd }

    mutating func bytes(_ count: Int) throws(CertificateError) -> [UInt8] {
        guard let bytes = fields.array(count) else { throw missing(count) }
        return bytes
    }

    /// A number of at most 8 bytes.
    mutating func number(_ count: Int) throws(CertificateError) -> UInt64 {
        guard let number = fields.number(width: count) else { throw missing(count) }
        return number
    }

    /// Reads a vector after its length, a number of at most 3 bytes.
    mutating func vector(_ lengthCount: Int) throws(CertificateError) -> [UInt8] {
        try bytes(Int(try number(lengthCount)))
    }

    func requireEnd() throws(CertificateError) {
        guard isAtEnd else { throw CertificateError("\(fields.remaining) bytes follow a certificate timestamp") }
    }

    private func missing(_ count: Int) -> CertificateError {
        CertificateError("expected \(count) bytes of a certificate timestamp, found \(fields.remaining)")
    }
}
