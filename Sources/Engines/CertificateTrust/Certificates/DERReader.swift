// SPDX-License-Identifier: Apache-2.0

/// Reads consecutive DER elements without parsing their content. It is for long lists (CRLs), where
/// a tree of nodes would take many times the memory.
///
/// `Bytes` is an array slice or, in the hot path, a slice of a raw buffer.
package struct DERReader<Bytes: RandomAccessCollection<UInt8>> where Bytes.SubSequence == Bytes, Bytes.Index == Int {
    package struct Element {
        package let tag: UInt8
        package let content: Bytes
        /// The whole element: tag, length and content.
        package let encoded: Bytes
    }

    private var rest: Bytes

    package init(_ bytes: Bytes) { rest = bytes }

    /// The next element; nil at the end.
    package mutating func next() throws(CertificateError) -> Element? {
        guard let tag = rest.first else { return nil }
        guard tag & 0x1F != 0x1F else { throw CertificateError("a tag of more than one byte is not supported") }
        var position = rest.startIndex + 1
        guard position < rest.endIndex else { throw CertificateError("an element has no length") }
        var length = Int(rest[position])
        position += 1
        if length >= 0x80 {
            let count = length & 0x7F
            guard 1...4 ~= count, rest.endIndex - position >= count else {
                throw CertificateError("a length is indefinite, cut off or longer than 4 bytes")
            }
            length = 0
            for _ in 0..<count {
                length = length << 8 | Int(rest[position])
                position += 1
            }
            guard length >= 0x80, length >> (8 * (count - 1)) != 0 else {
                throw CertificateError("a length is not minimally encoded")
            }
        }
        guard rest.endIndex - position >= length else {
            throw CertificateError("an element is longer than its container")
        }
        let element = Element(
            tag: tag, content: rest[position..<position + length], encoded: rest[rest.startIndex..<position + length])
        rest = rest[(position + length)...]
        return element
    }

    /// The elements of a `SEQUENCE` without trailing bytes.
    ///
    /// - Throws: also if there are more than 64 elements. Longer lists are read with ``next()``.
    package static func members(of bytes: Bytes) throws(CertificateError) -> [Element] {
        var outer = DERReader(bytes)
        guard let sequence = try outer.next(), sequence.tag == 0x30, outer.rest.isEmpty else {
            throw CertificateError("expected one SEQUENCE without trailing bytes")
        }
        var (inner, members): (DERReader, [Element]) = (DERReader(sequence.content), [])
        while let member = try inner.next() {
            guard members.count < 64 else { throw CertificateError("a SEQUENCE has more than 64 elements") }
            members.append(member)
        }
        return members
    }
}

extension DERReader.Element: Sendable where Bytes: Sendable {}
