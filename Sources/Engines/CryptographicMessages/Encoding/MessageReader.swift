// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel
internal import LinuxSystem

/// The DER tags of the types in CMS.
enum DERTag: UInt8 {
    case integer = 0x02
    case bitString = 0x03
    case octetString = 0x04
    case objectIdentifier = 0x06
    case sequence = 0x30
    case set = 0x31

    /// The tag `[number]` of an element with content of its own.
    static func primitive(_ number: UInt8) -> UInt8 { 0x80 | number }
    /// The tag `[number]` of an element with elements inside.
    static func constructed(_ number: UInt8) -> UInt8 { 0xA0 | number }
}

/// Reads consecutive DER elements of a message, and names missing ones.
struct MessageReader {
    typealias Element = DERReader<ArraySlice<UInt8>>.Element

    private var reader: DERReader<ArraySlice<UInt8>>

    init(_ content: ArraySlice<UInt8>) { reader = DERReader(content) }

    /// The next element; nil at the end.
    mutating func next() throws(KeychainError) -> Element? {
        do throws(CertificateError) {
            return try reader.next()
        } catch {
            throw .malformedMessage(error.description)
        }
    }

    /// Returns the next element. It must have this tag.
    mutating func required(_ tag: DERTag, _ name: String) throws(KeychainError) -> Element {
        try required(tag.rawValue, name)
    }

    /// Returns the next element. It must have this tag.
    mutating func required(_ tag: UInt8, _ name: String) throws(KeychainError) -> Element {
        guard let element = try next() else { throw .malformedMessage("\(name) is missing") }
        guard element.tag == tag else {
            throw .malformedMessage("\(name) must have the tag \(tag), found \(element.tag)")
        }
        return element
    }

    /// The next element if it has this tag; nil if it has another one, or there is none.
    mutating func optional(_ tag: UInt8) throws(KeychainError) -> Element? {
        var ahead = self
        guard let element = try ahead.next(), element.tag == tag else { return nil }
        self = ahead
        return element
    }

    /// Requires that no element is left.
    mutating func requireEnd(_ name: String) throws(KeychainError) {
        guard try next() == nil else { throw .malformedMessage("\(name) has unexpected bytes at its end") }
    }

    /// Returns the one element inside the next one. The next one must have the explicit tag `[number]`.
    mutating func explicit(_ number: UInt8, _ name: String) throws(KeychainError) -> Element {
        try Self.only(of: try required(DERTag.constructed(number), name).content, name)
    }

    /// The one element inside the next one if that has the explicit tag `[number]`.
    mutating func optionalExplicit(_ number: UInt8, _ name: String) throws(KeychainError) -> Element? {
        guard let outer = try optional(DERTag.constructed(number)) else { return nil }
        return try Self.only(of: outer.content, name)
    }

    /// The one element of this content.
    static func only(of content: ArraySlice<UInt8>, _ name: String) throws(KeychainError) -> Element {
        var inner = MessageReader(content)
        guard let element = try inner.next() else { throw .malformedMessage("\(name) is empty") }
        try inner.requireEnd(name)
        return element
    }

    mutating func objectIdentifier(_ name: String) throws(KeychainError) -> ObjectIdentifier {
        let element = try required(.objectIdentifier, name)
        return try reading { () throws(CertificateError) in try ObjectIdentifier(content: element.content) }
    }

    mutating func algorithm(_ name: String) throws(KeychainError) -> AlgorithmIdentifier {
        let element = try required(.sequence, name)
        return try reading { () throws(CertificateError) in try AlgorithmIdentifier(der: element.encoded) }
    }

    /// An `INTEGER` from 0 to 65535.
    mutating func number(_ name: String) throws(KeychainError) -> Int {
        let content = try required(.integer, name).content
        guard DERElement.isInteger(content), content.first ?? 0x80 < 0x80,
            let number = UInt16(bigEndianBytes: content)
        else { throw .malformedMessage("\(name) must be an INTEGER from 0 to 65535") }
        return Int(number)
    }
}
