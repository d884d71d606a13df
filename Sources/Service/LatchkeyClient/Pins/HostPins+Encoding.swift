// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import TransportPolicy

// The encoded form of a record: Documentation/Formats/pins.md.

extension HostPins {
    static let magic = Array("LKPN".utf8)
    static let version: UInt8 = 1
    /// The longest record: the fixed fields, a domain of 253 bytes and 64 pins.
    static let maxLength = 30 + 253 + PinRequirement.maxPins * pinLength

    var encoded: [UInt8] {
        let host = Array(domain.description.utf8)
        var bytes = Self.magic + [Self.version, pinSet.rule.subdomains.code, origin.code]
        bytes += created.bigEndianBytes + (lastSeen ?? 0).bigEndianBytes + failureCount.bigEndianBytes
        bytes += [UInt8(host.count)] + host
        // A record has one requirement, with at most 64 pins.
        for requirement in pinSet.requirements {
            bytes += [requirement.placement.code, UInt8(requirement.pins.count)]
            bytes += requirement.pins.map(\.hash).sorted { $0.lexicographicallyPrecedes($1) }.joined()
        }
        return bytes
    }

    /// Decodes a record. Only the output of ``encoded`` is accepted.
    ///
    /// - Throws: errSecDecode with the expected content.
    init(encoded bytes: [UInt8]) throws(KeychainError) {
        guard bytes.count <= Self.maxLength else { throw Self.invalid("at most \(Self.maxLength) bytes") }
        var reader = RecordReader(bytes)
        guard try reader.bytes(4) == Self.magic else { throw Self.invalid("the beginning LKPN") }
        let version = try reader.byte()
        guard version == Self.version else {
            throw KeychainError(
                .decode, "the pins have version \(version) of their format, this program knows \(Self.version)",
                hint: "use a newer version of Latchkey")
        }
        guard let subdomains = Subdomains(code: try reader.byte()) else { throw Self.invalid("a kind of subdomains") }
        guard let origin = Origin(code: try reader.byte()) else { throw Self.invalid("an origin") }
        let (created, lastSeen) = (try reader.number(UInt64.self), try reader.number(UInt64.self))
        let failureCount = try reader.number(UInt32.self)
        let host = String(decoding: try reader.bytes(Int(try reader.byte())), as: UTF8.self)
        guard let placement = PinPlacement(code: try reader.byte()) else { throw Self.invalid("a placement") }
        var pins: [Pin] = []
        for _ in 0..<(try reader.byte()) {
            guard let pin = Pin(hash: try reader.bytes(Self.pinLength)) else { throw Self.invalid("a pin") }
            pins.append(pin)
        }
        guard reader.isAtEnd else { throw Self.invalid("the end after the pins") }
        do throws(TransportPolicyError) {
            try self.init(
                DomainName(host), subdomains: subdomains, PinRequirement(placement, pins), origin: origin,
                created: created)
        } catch {
            throw Self.invalid("a domain and pins that can be used: \(error)")
        }
        (self.lastSeen, self.failureCount) = (lastSeen == 0 ? nil : lastSeen, failureCount)
        // The order of the pins, pins that occur twice.
        guard encoded == bytes else { throw Self.invalid("the one form of the record") }
    }

    private static let pinLength = 32

    fileprivate static func invalid(_ expected: String) -> KeychainError {
        KeychainError(.decode, "the stored pins are damaged: expected \(expected)")
    }
}

/// Reads fields from the beginning of a record.
private struct RecordReader {
    private var fields: FieldReader<ArraySlice<UInt8>>

    init(_ bytes: [UInt8]) { fields = FieldReader(bytes) }

    var isAtEnd: Bool { fields.isAtEnd }

    mutating func bytes(_ count: Int) throws(KeychainError) -> [UInt8] {
        guard let bytes = fields.array(count) else { throw HostPins.invalid("\(count) more bytes") }
        return bytes
    }

    mutating func byte() throws(KeychainError) -> UInt8 { try number(UInt8.self) }

    mutating func number<Number: FixedWidthInteger>(_: Number.Type) throws(KeychainError) -> Number {
        guard let number: Number = fields.number() else {
            throw HostPins.invalid("\(MemoryLayout<Number>.size) more bytes")
        }
        return number
    }
}

// MARK: Codes

extension Subdomains {
    fileprivate var code: UInt8 {
        switch self {
        case .none: 0
        case .oneLevel: 1
        case .anyLevel: 2
        }
    }

    fileprivate init?(code: UInt8) {
        guard let found = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = found
    }
}

extension HostPins.Origin {
    fileprivate var code: UInt8 {
        switch self {
        case .given: 1
        case .firstUse: 2
        }
    }

    fileprivate init?(code: UInt8) {
        guard let found = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = found
    }
}

extension PinPlacement {
    fileprivate var code: UInt8 {
        switch self {
        case .leaf: 1
        case .certificateAuthority: 2
        case .anywhere: 3
        }
    }

    fileprivate init?(code: UInt8) {
        guard let found = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = found
    }
}
