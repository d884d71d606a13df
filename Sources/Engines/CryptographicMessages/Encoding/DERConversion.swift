// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel

/// Converts BER to DER: indefinite and long lengths become minimal ones, and an OCTET STRING in
/// segments becomes one. All other content keeps its bytes.
///
/// The elements are read in one pass without recursion, so that the depth of a message costs
/// nothing but its own limit.
enum DERConversion {
    /// Returns the DER of one element without trailing bytes.
    static func der(of bytes: [UInt8], limits: MessageLimits) throws(KeychainError) -> [UInt8] {
        guard bytes.count <= limits.byteCount else {
            throw .messageTooLarge("\(bytes.count) bytes, at most \(limits.byteCount) are supported")
        }
        var reader = BERReader(bytes, limits)
        try reader.readAll()
        return reader.isCanonical ? bytes : reader.converted()
    }
}

private struct BERReader {
    private enum Kind {
        case primitive, constructed
        /// An OCTET STRING in segments, and the segments inside of one: their headers disappear.
        case joined, segment, segments
    }

    private struct Node {
        let kind: Kind
        let tag: UInt8
        /// The index of the node around it; nil for the outermost.
        let parent: Int?
        /// Where the content of a primitive element begins.
        let start: Int
        /// The length of the content: at first as it was read, then as it is written.
        var count: Int

        var hasHeader: Bool { kind != .segment && kind != .segments }
        var isOctetString: Bool { kind == .joined || kind == .segments }
    }

    /// An element during the reading of its content.
    private struct Container {
        let node: Int
        /// Where the content ends; nil for an indefinite length.
        let end: Int?
        /// The position that no content of it may reach beyond.
        let bound: Int
    }

    private let bytes: [UInt8]
    private let limits: MessageLimits
    private var position = 0
    private var nodes: [Node] = []
    private var open: [Container] = []
    /// Whether the input equals the bytes that would be written.
    private(set) var isCanonical = true

    init(_ bytes: [UInt8], _ limits: MessageLimits) {
        self.bytes = bytes
        self.limits = limits
    }

    // MARK: Reading

    mutating func readAll() throws(KeychainError) {
        repeat {
            try readElement()
            while let last = open.last, last.end == position { _ = open.popLast() }
        } while !open.isEmpty
        guard position == bytes.count else { throw .malformedMessage("bytes follow the message") }
    }

    private mutating func readElement() throws(KeychainError) {
        let bound = open.last?.bound ?? bytes.count
        let tag = try readByte(before: bound)
        guard tag != 0 else { return try endContents(before: bound) }
        guard tag & 0x1F != 0x1F else { throw .malformedMessage("a tag of more than one byte is not supported") }
        guard nodes.count < limits.elements else { throw .messageTooLarge("more than \(limits.elements) elements") }
        let isConstructed = tag & 0x20 != 0
        let length = try readLength(before: bound)
        let kind = try kind(tag, isConstructed)
        nodes.append(Node(kind: kind, tag: tag, parent: open.last?.node, start: position, count: 0))
        guard isConstructed else {
            guard let length else { throw .malformedMessage("a primitive element has an indefinite length") }
            nodes[nodes.count - 1].count = length
            position += length
            return
        }
        guard open.count < limits.depth else { throw .messageTooLarge("elements are nested too deeply") }
        let end = length.map { position + $0 }
        open.append(Container(node: nodes.count - 1, end: end, bound: end ?? bound))
    }

    /// Reads the second zero of the end of an indefinite length.
    private mutating func endContents(before bound: Int) throws(KeychainError) {
        guard let last = open.last, last.end == nil, try readByte(before: bound) == 0 else {
            throw .malformedMessage("an end of contents where none is expected")
        }
        _ = open.popLast()
    }

    private mutating func kind(_ tag: UInt8, _ isConstructed: Bool) throws(KeychainError) -> Kind {
        if let parent = open.last, nodes[parent.node].isOctetString {
            guard tag & ~0x20 == DERTag.octetString.rawValue else {
                throw .malformedMessage("a segment of an OCTET STRING must be an OCTET STRING")
            }
            return isConstructed ? .segments : .segment
        }
        guard isConstructed else { return .primitive }
        // Only a SEQUENCE, a SET and a context-specific tag have elements inside.
        guard tag & 0xC0 != 0 || tag == DERTag.sequence.rawValue || tag == DERTag.set.rawValue else {
            guard tag & ~0x20 == DERTag.octetString.rawValue else {
                throw .malformedMessage("the type \(tag & 0x1F) must not be in segments")
            }
            isCanonical = false
            return .joined
        }
        return .constructed
    }

    /// Returns the length that is read; nil for an indefinite one.
    private mutating func readLength(before bound: Int) throws(KeychainError) -> Int? {
        let first = try readByte(before: bound)
        if first == 0x80 {
            isCanonical = false
            return nil
        }
        var length = Int(first)
        if first > 0x80 {
            length = 0
            let count = Int(first & 0x7F)
            guard count <= 8 else { throw .malformedMessage("a length has more than 8 bytes") }
            for _ in 0..<count {
                guard length < 1 << 40 else { throw .malformedMessage("an element is longer than its container") }
                length = length << 8 | Int(try readByte(before: bound))
            }
            // DER: the fewest bytes, and none for a length below 128.
            if length < 0x80 || length >> ((count - 1) << 3) == 0 { isCanonical = false }
        }
        guard length <= bound - position else { throw .malformedMessage("an element is longer than its container") }
        return length
    }

    private mutating func readByte(before bound: Int) throws(KeychainError) -> UInt8 {
        guard position < bound else { throw .malformedMessage("an element is cut off") }
        defer { position += 1 }
        return bytes[position]
    }

    // MARK: Writing

    /// Returns the DER of the elements that were read.
    mutating func converted() -> [UInt8] {
        // An element comes after the one around it, so that its own length is known first.
        for index in nodes.indices.reversed() {
            let node = nodes[index]
            guard let parent = node.parent else { continue }
            nodes[parent].count += node.count + (node.hasHeader ? header(of: node).count : 0)
        }
        var der: [UInt8] = []
        der.reserveCapacity(bytes.count)
        for node in nodes {
            if node.hasHeader { der += header(of: node) }
            if node.kind == .primitive || node.kind == .segment { der += bytes[node.start..<node.start + node.count] }
        }
        return der
    }

    private func header(of node: Node) -> [UInt8] {
        DERElement.header(node.kind == .joined ? DERTag.octetString.rawValue : node.tag, node.count)
    }
}
