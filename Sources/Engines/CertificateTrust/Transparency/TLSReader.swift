// SPDX-License-Identifier: Apache-2.0

/// Reads numbers and vectors in the presentation language of TLS (RFC 8446, section 3).
struct TLSReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func bytes(_ count: Int) throws(CertificateError) -> [UInt8] {
        guard rest.count >= count else {
            throw CertificateError("expected \(count) bytes of a certificate timestamp, found \(rest.count)")
        }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// A number of at most 8 bytes.
    mutating func number(_ count: Int) throws(CertificateError) -> UInt64 {
        try bytes(count).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// A vector whose length is a number of at most 3 bytes.
    mutating func vector(_ lengthCount: Int) throws(CertificateError) -> [UInt8] {
        try bytes(Int(try number(lengthCount)))
    }

    func requireEnd() throws(CertificateError) {
        guard isAtEnd else { throw CertificateError("\(rest.count) bytes follow a certificate timestamp") }
    }
}
