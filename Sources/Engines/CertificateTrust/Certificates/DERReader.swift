// SPDX-License-Identifier: Apache-2.0

/// Elements of DER one after the other, none of which is looked into: for lists so long that a tree of them would take many times their room.
///
/// Of slices of arrays or, where every nanosecond counts, of memory.
struct DERReader<Bytes: RandomAccessCollection<UInt8>> where Bytes.SubSequence == Bytes, Bytes.Index == Int {
    struct Element {
        let tag: UInt8
        let content: Bytes
        /// With its tag and its length.
        let encoded: Bytes
    }

    private var rest: Bytes

    init(_ bytes: Bytes) { rest = bytes }

    /// The next element; nil behind the last.
    mutating func next() throws(CertificateError) -> Element? {
        guard let tag = rest.first else { return nil }
        guard tag & 0x1F != 0x1F else { throw CertificateError("a tag of several bytes") }
        var position = rest.startIndex + 1
        guard position < rest.endIndex else { throw CertificateError("an element has no length") }
        var length = Int(rest[position])
        position += 1
        if length >= 0x80 {
            let count = length & 0x7F
            guard 1...4 ~= count, rest.endIndex - position >= count else {
                throw CertificateError("a length cannot be read")
            }
            length = 0
            for _ in 0..<count {
                length = length << 8 | Int(rest[position])
                position += 1
            }
            guard length >= 0x80, length >> (8 * (count - 1)) != 0 else {
                throw CertificateError("a length is not in its fewest bytes")
            }
        }
        guard rest.endIndex - position >= length else {
            throw CertificateError("an element is longer than what contains it")
        }
        let element = Element(
            tag: tag, content: rest[position..<position + length], encoded: rest[rest.startIndex..<position + length])
        rest = rest[(position + length)...]
        return element
    }

    /// The elements of a `SEQUENCE` behind which there is nothing.
    ///
    /// - Throws: also where there are more than a few: a list of many is looked through by ``next()``.
    static func members(of bytes: Bytes) throws(CertificateError) -> [Element] {
        var outer = DERReader(bytes)
        guard let sequence = try outer.next(), sequence.tag == 0x30, outer.rest.isEmpty else {
            throw CertificateError("there is no SEQUENCE, or something behind it")
        }
        var (inner, members): (DERReader, [Element]) = (DERReader(sequence.content), [])
        while let member = try inner.next() {
            guard members.count < 64 else { throw CertificateError("a SEQUENCE has more members than it can have") }
            members.append(member)
        }
        return members
    }
}
