// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// An IPv4 or IPv6 address.
public struct IPAddress: Hashable, Sendable {
    /// 4 or 16 bytes in network order.
    public let bytes: [UInt8]

    /// Nil unless there are 4 or 16 bytes.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = Array(bytes)
    }

    /// Parses an address: `192.0.2.1` in decimal without leading zeros, or `2001:db8::1` (RFC 4291,
    /// section 2.2) with or without brackets.
    ///
    /// Nil for anything else, so that no text is both a host name and an address.
    public init?(text: String) {
        var text = Substring(text)
        if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
        guard let bytes = text.contains(":") ? Self.version6(text) : Self.version4(text) else { return nil }
        self.bytes = bytes
    }

    private static func version4(_ text: Substring) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        let bytes = parts.compactMap { part -> UInt8? in
            guard 1...3 ~= part.utf8.count, part.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
                part == "0" || part.first != "0"
            else { return nil }
            return UInt8(part)
        }
        return bytes.count == 4 ? bytes : nil
    }

    private static func version6(_ text: Substring) -> [UInt8]? {
        let halves = text.split(separator: "::", maxSplits: 2, omittingEmptySubsequences: false)
        guard halves.count <= 2, let front = groups(halves[0]) else { return nil }
        guard halves.count == 2 else { return front.count == 16 ? front : nil }
        // `::` stands for at least one group.
        guard let back = groups(halves[1]), front.count + back.count <= 14 else { return nil }
        return front + [UInt8](repeating: 0, count: 16 - front.count - back.count) + back
    }

    /// The bytes of the groups on one side of `::`; the last group may be an IPv4 address.
    private static func groups(_ text: Substring) -> [UInt8]? {
        guard !text.isEmpty else { return [] }
        var bytes: [UInt8] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, part.contains(".") {
                guard let last = version4(part) else { return nil }
                bytes += last
            } else {
                guard 1...4 ~= part.utf8.count,
                    part.utf8.allSatisfy({ Hexadecimal.value(of: $0, letters: .any) != nil }),
                    let group = UInt16(part, radix: 16)
                else {
                    return nil
                }
                bytes.append(bigEndian: group)
            }
        }
        return bytes.count <= 16 ? bytes : nil
    }
}

// MARK: CustomStringConvertible

extension IPAddress: CustomStringConvertible {
    /// `192.0.2.1`, or the form of RFC 5952, `2001:db8::1`.
    public var description: String {
        guard bytes.count == 16 else { return bytes.map(String.init).joined(separator: ".") }
        var fields = FieldReader(bytes)
        let groups = (0..<8).compactMap { _ in fields.number(UInt16.self) }
        var gap = 0..<0
        var start = 0
        while start < 8 {
            let end = groups[start...].firstIndex { $0 != 0 } ?? 8
            if end - start > max(1, gap.count) { gap = start..<end }
            start = max(end, start + 1)
        }
        let written = { (groups: ArraySlice<UInt16>) in groups.map { String($0, radix: 16) }.joined(separator: ":") }
        return gap.isEmpty
            ? written(groups[...]) : "\(written(groups[..<gap.lowerBound]))::\(written(groups[gap.upperBound...]))"
    }
}
