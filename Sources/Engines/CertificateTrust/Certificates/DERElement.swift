// SPDX-License-Identifier: Apache-2.0

/// Writes DER elements.
enum DERElement {
    /// The encoding of an element: tag, minimal length, content.
    static func of(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        guard content.count >= 0x80 else { return [tag, UInt8(content.count)] + content }
        var length = content.count
        var digits: [UInt8] = []
        while length > 0 {
            digits.insert(UInt8(length & 0xFF), at: 0)
            length >>= 8
        }
        return [tag, 0x80 | UInt8(digits.count)] + digits + content
    }

    /// Whether this is the content of an `INTEGER` of any length and sign: not empty, and minimally
    /// encoded.
    static func isInteger(_ content: some Collection<UInt8>) -> Bool {
        guard let first = content.first else { return false }
        guard let second = content.dropFirst().first else { return true }
        return first == 0x00 ? second >= 0x80 : first != 0xFF || second < 0x80
    }
}
