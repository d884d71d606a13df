// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

extension ASN1Node {
    /// The content of an element that is not made of others.
    var primitiveContent: ArraySlice<UInt8>? {
        guard case .primitive(let bytes) = content else { return nil }
        return bytes
    }

    /// The content of an element with this tag of its context, in place of the type's own.
    func implicit(_ tag: UInt) -> ArraySlice<UInt8>? {
        identifier == ASN1Identifier(tagWithNumber: tag, tagClass: .contextSpecific) ? primitiveContent : nil
    }

    func isContextSpecific(_ tag: UInt) -> Bool {
        identifier == ASN1Identifier(tagWithNumber: tag, tagClass: .contextSpecific)
    }

    /// What this explicit tag stands before.
    func explicit(_ tag: UInt) throws -> ASN1Node {
        guard isContextSpecific(tag), case .constructed(let nodes) = content else {
            throw CertificateError("an explicit tag \(tag) is missing")
        }
        var iterator = nodes.makeIterator()
        guard let inner = iterator.next(), iterator.next() == nil else {
            throw CertificateError("an explicit tag stands before more or less than one element")
        }
        return inner
    }

    /// The elements of a `SEQUENCE` or of what stands in place of one.
    func members(_ identifier: ASN1Identifier = .sequence) throws -> [ASN1Node] {
        try DER.sequence(self, identifier: identifier) { nodes in
            var members: [ASN1Node] = []
            while let node = nodes.next() { members.append(node) }
            return members
        }
    }

    /// The content of an `INTEGER` of any length and sign, which is not empty and in its fewest bytes.
    func integerContent() throws -> ArraySlice<UInt8> {
        guard identifier == .integer, let content = primitiveContent else {
            throw CertificateError("an integer is missing")
        }
        guard DERElement.isInteger(content) else {
            throw CertificateError("an integer is empty or not in its fewest bytes")
        }
        return content
    }

    /// A number from 0 to `limit`.
    func number(_ identifier: ASN1Identifier = .integer, upTo limit: Int = Int(Int32.max)) throws -> Int {
        let number = try Int(derEncoded: self, withIdentifier: identifier)
        guard 0...limit ~= number else { throw CertificateError("a number is \(number), not 0 to \(limit)") }
        return number
    }
}
