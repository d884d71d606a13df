// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust

/// An address, or a range of addresses in CIDR notation: `192.0.2.1`, `2001:db8::/32`.
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
        (self.address, prefixLength) = (address, length)
        guard Self.bits(of: address).dropFirst(length).allSatisfy({ !$0 }) else { return nil }
    }

    public func contains(_ other: IPAddress) -> Bool {
        other.bytes.count == address.bytes.count
            && Self.bits(of: other).prefix(prefixLength).elementsEqual(Self.bits(of: address).prefix(prefixLength))
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
