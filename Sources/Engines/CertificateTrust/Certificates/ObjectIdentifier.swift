// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// An object identifier (X.660), such as `2.5.29.17`.
public struct ObjectIdentifier: Hashable, Sendable {
    /// The content of the DER element.
    public let content: [UInt8]

    /// Reads the next element. It must be an object identifier.
    init(from nodes: inout ASN1NodeCollection.Iterator) throws {
        guard let node = nodes.next() else { throw CertificateError("expected an object identifier") }
        try self.init(node)
    }

    init(_ node: ASN1Node, _ identifier: ASN1Identifier = .objectIdentifier) throws {
        guard node.identifier == identifier, let bytes = node.primitiveContent else {
            throw CertificateError("expected an object identifier")
        }
        try self.init(content: bytes)
    }

    /// Reads the content of a DER element.
    package init(content bytes: ArraySlice<UInt8>) throws(CertificateError) {
        // Every arc is minimally encoded and complete. Arcs have no size limit, because some are
        // made from UUIDs (X.667).
        guard let last = bytes.last, last < 0x80, bytes.first != 0x80,
            !zip(bytes, bytes.dropFirst()).contains(where: { $0 < 0x80 && $1 == 0x80 })
        else { throw CertificateError("an object identifier is not minimally encoded, or is cut off") }
        content = Array(bytes)
    }

    /// Reads arcs that are separated by dots, such as `1.2.840.113549.1.7.1`; nil if they are not an
    /// object identifier with at most 32 arcs of 32 bits.
    public init?(text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard 2...32 ~= parts.count else { return nil }
        let arcs = parts.compactMap { part in part.allSatisfy(\.isNumber) ? UInt32(part).map(UInt.init) : nil }
        // Only the root 2 has arcs of 40 and more on the second level.
        guard arcs.count == parts.count, let root = arcs.first, let second = arcs.dropFirst().first,
            root < 2 && second < 40 || root == 2
        else { return nil }
        self.init(arcs: arcs)
    }

    /// An object identifier with these arcs, at least two.
    package init(_ arcs: UInt...) { self.init(arcs: arcs) }

    /// An object identifier with these arcs.
    ///
    /// - Parameter arcs: at least two.
    init(arcs: [UInt]) {
        var content: [UInt8] = []
        for arc in [arcs[0] * 40 + arcs[1]] + arcs[2...] {
            var groups = [UInt8(arc & 0x7F)]
            var rest = arc >> 7
            while rest > 0 {
                groups.append(UInt8(rest & 0x7F) | 0x80)
                rest >>= 7
            }
            content += groups.reversed()
        }
        self.content = content
    }
}

// MARK: CustomStringConvertible

extension ObjectIdentifier: CustomStringConvertible {
    /// The arcs, separated by dots; an arc of more than 64 bits is printed as `…`.
    public var description: String {
        var arcs: [String] = []
        var (value, isTooLarge) = (UInt64(0), false)
        for byte in content {
            isTooLarge = isTooLarge || value >> 57 != 0
            value = (value << 7) | UInt64(byte & 0x7F)
            guard byte & 0x80 == 0 else { continue }
            if isTooLarge {
                arcs.append("…")
            } else if arcs.isEmpty {
                let first = min(value / 40, 2)
                arcs += ["\(first)", "\(value - first * 40)"]
            } else {
                arcs.append("\(value)")
            }
            (value, isTooLarge) = (0, false)
        }
        return arcs.joined(separator: ".")
    }
}
