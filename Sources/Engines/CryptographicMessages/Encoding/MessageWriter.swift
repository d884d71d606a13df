// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust

/// Writes the DER elements of a message.
enum MessageWriter {
    static func sequence(_ members: [UInt8]...) -> [UInt8] { element(DERTag.sequence, members.flatMap { $0 }) }

    /// Returns a `SET OF`, with its members in the order of DER.
    static func set(_ members: [[UInt8]]) -> [UInt8] { element(.set, sorted(members)) }

    /// A `SET OF` with the implicit tag `[number]`.
    static func set(_ number: UInt8, _ members: [[UInt8]]) -> [UInt8] {
        DERElement.of(DERTag.constructed(number), sorted(members))
    }

    static func octets(_ content: some Collection<UInt8>) -> [UInt8] { element(.octetString, Array(content)) }
    static func bits(_ content: [UInt8]) -> [UInt8] { element(.bitString, [0] + content) }
    static func number(_ number: UInt8) -> [UInt8] { element(.integer, [number & 0x7F]) }
    static func identifier(_ identifier: ObjectIdentifier) -> [UInt8] { element(.objectIdentifier, identifier.content) }

    static func explicit(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
        DERElement.of(DERTag.constructed(number), content)
    }

    /// An `AlgorithmIdentifier`.
    static func algorithm(_ identifier: ObjectIdentifier, _ parameters: [UInt8] = []) -> [UInt8] {
        sequence(Self.identifier(identifier), parameters)
    }

    /// The parameters `NULL`.
    static let null: [UInt8] = [0x05, 0x00]

    private static func element(_ tag: DERTag, _ content: [UInt8]) -> [UInt8] { DERElement.of(tag.rawValue, content) }

    private static func sorted(_ members: [[UInt8]]) -> [UInt8] {
        members.sorted { $0.lexicographicallyPrecedes($1) }.flatMap { $0 }
    }
}
