// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

extension ASN1Node {
    /// The content of a primitive element; nil for a constructed one.
    var primitiveContent: ArraySlice<UInt8>? {
        guard case .primitive(let bytes) = content else { return nil }
        return bytes
    }

    /// The content of a primitive element with this implicit, context-specific tag; nil for any
    /// other element.
    func implicit(_ tag: UInt) -> ArraySlice<UInt8>? {
        identifier == ASN1Identifier(tagWithNumber: tag, tagClass: .contextSpecific) ? primitiveContent : nil
    }

    func isContextSpecific(_ tag: UInt) -> Bool {
        identifier == ASN1Identifier(tagWithNumber: tag, tagClass: .contextSpecific)
    }

    /// The element inside an explicit, context-specific tag.
    ///
    /// - Throws: if the tag is not this one, or does not hold exactly one element.
    func explicit(_ tag: UInt) throws -> ASN1Node {
        guard isContextSpecific(tag), case .constructed(let nodes) = content else {
            throw CertificateError("the explicit tag \(tag) is missing")
        }
        var iterator = nodes.makeIterator()
        guard let inner = iterator.next(), iterator.next() == nil else {
            throw CertificateError("an explicit tag must hold exactly one element")
        }
        return inner
    }

    /// The elements of a `SEQUENCE`, or of an element with an implicit tag instead.
    func members(_ identifier: ASN1Identifier = .sequence) throws -> [ASN1Node] {
        try DER.sequence(self, identifier: identifier) { nodes in
            var members: [ASN1Node] = []
            while let node = nodes.next() { members.append(node) }
            return members
        }
    }

    /// The content of an `INTEGER` of any length and sign; it is not empty and minimally encoded.
    func integerContent() throws -> ArraySlice<UInt8> {
        guard identifier == .integer, let content = primitiveContent else {
            throw CertificateError("expected an INTEGER")
        }
        guard DERElement.isInteger(content) else {
            throw CertificateError("an INTEGER is empty or not minimally encoded")
        }
        return content
    }

    /// An `INTEGER` from 0 to `limit`.
    func number(_ identifier: ASN1Identifier = .integer, upTo limit: Int = Int(Int32.max)) throws -> Int {
        let number = try Int(derEncoded: self, withIdentifier: identifier)
        guard 0...limit ~= number else {
            throw CertificateError("an INTEGER must be from 0 to \(limit), found \(number)")
        }
        return number
    }
}
