// SPDX-License-Identifier: Apache-2.0

/// Writes DER elements.
package enum DERElement {
    /// The encoding of an element: tag, minimal length, content.
    package static func of(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { header(tag, content.count) + content }

    /// The first bytes of an element: tag and minimal length.
    package static func header(_ tag: UInt8, _ count: Int) -> [UInt8] {
        guard count >= 0x80 else { return [tag, UInt8(count)] }
        var length = count
        var digits: [UInt8] = []
        while length > 0 {
            digits.insert(UInt8(length & 0xFF), at: 0)
            length >>= 8
        }
        return [tag, 0x80 | UInt8(digits.count)] + digits
    }

    /// Whether this is the content of an `INTEGER` of any length and sign: not empty, and minimally
    /// encoded.
    package static func isInteger(_ content: some Collection<UInt8>) -> Bool {
        guard let first = content.first else { return false }
        guard let second = content.dropFirst().first else { return true }
        return first == 0x00 ? second >= 0x80 : first != 0xFF || second < 0x80
    }
}
