// SPDX-License-Identifier: Apache-2.0

// Bytes of names as constraints compare them.

extension UInt8 {
    static let dot = UInt8(ascii: ".")
    static let at = UInt8(ascii: "@")
    static let asterisk = UInt8(ascii: "*")
}

extension Collection<UInt8> {
    var lowercased: [UInt8] { map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 } }
}

extension ArraySlice<UInt8> {
    /// With the host in lower case; who is there may be told apart by case.
    var lowercasedHost: [UInt8] {
        guard let at = lastIndex(of: .at) else { return lowercased }
        return Array(self[..<at]) + self[at...].lowercased
    }
}

extension [UInt8] {
    /// Whether this host is the root of the subtree or lies below it; with a dot in front, below it only.
    func isWithin(_ subtree: [UInt8]) -> Bool {
        guard !subtree.isEmpty else { return true }
        guard count >= subtree.count, suffix(subtree.count).elementsEqual(subtree) else { return false }
        return subtree[0] == .dot ? count > subtree.count : count == subtree.count || self[count - subtree.count - 1] == .dot
    }
}
