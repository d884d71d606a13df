// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust

/// An address, or a range of addresses in CIDR notation: `192.0.2.1`, `2001:db8::/32`.
///
/// An IPv4 address and its IPv4-mapped form, `::ffff:192.0.2.1`, are the same, because connections
/// to both reach the same host.
public struct AddressRange: Hashable, Sendable {
    public let address: IPAddress
    /// The bits that all addresses of the range have in common.
    public let prefixLength: Int

    /// Nil if the text is not an address or a range, or if bits after the prefix are set.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard !text.contains("["), let first = parts.first, let address = IPAddress(text: String(first)) else {
            return nil
        }
        let width = address.bytes.count * 8
        var length = width
        if let digits = parts.dropFirst().first {
            guard 1...3 ~= digits.utf8.count, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = Int(digits),
                number <= width, digits == String(number)
            else { return nil }
            length = number
        }
        guard Self.bits(of: address).dropFirst(length).allSatisfy({ !$0 }) else { return nil }
        if length >= Self.mappedPrefixLength, let mapped = Self.mapped(address) {
            (self.address, prefixLength) = (mapped, length - Self.mappedPrefixLength)
        } else {
            (self.address, prefixLength) = (address, length)
        }
    }

    public func contains(_ other: IPAddress) -> Bool {
        let other = Self.mapped(other) ?? other
        return other.bytes.count == address.bytes.count
            && Self.bits(of: other).prefix(prefixLength).elementsEqual(Self.bits(of: address).prefix(prefixLength))
    }

    /// The bits before the IPv4 address in an IPv4-mapped one (RFC 4291, section 2.5.5.2).
    private static let mappedPrefixLength = 96

    /// The IPv4 address of an IPv4-mapped one; nil for any other.
    private static func mapped(_ address: IPAddress) -> IPAddress? {
        let prefix: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF]
        guard address.bytes.count == 16, address.bytes.starts(with: prefix) else { return nil }
        return IPAddress(address.bytes.dropFirst(prefix.count))
    }

    private static func bits(of address: IPAddress) -> [Bool] {
        address.bytes.flatMap { byte in (0..<8).map { byte & (0x80 >> $0) != 0 } }
    }
}

// MARK: CustomStringConvertible

extension AddressRange: CustomStringConvertible {
    public var description: String {
        prefixLength == address.bytes.count * 8 ? "\(address)" : "\(address)/\(prefixLength)"
    }
}
