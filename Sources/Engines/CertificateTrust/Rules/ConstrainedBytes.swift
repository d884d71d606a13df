// SPDX-License-Identifier: Apache-2.0

// Helpers to compare the bytes of names with name constraints.

extension UInt8 {
    static let dot = UInt8(ascii: ".")
    static let at = UInt8(ascii: "@")
    static let asterisk = UInt8(ascii: "*")
}

extension UInt8 {
    /// The lower-case form of an ASCII letter; any other byte unchanged.
    var lowercased: UInt8 { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self | 0x20 : self }
}

extension Collection<UInt8> {
    var lowercased: [UInt8] { map(\.lowercased) }
}

/// Parses email addresses of the form `local-part@host`; the local part can be UTF-8 (RFC 9598).
enum Mailbox {
    /// The address with its host in lower case, and the host; nil for anything else, including
    /// quoted local parts. The case of the local part is kept, because it may be significant.
    static func parts(_ bytes: ArraySlice<UInt8>) -> (mailbox: [UInt8], host: [UInt8])? {
        let parts = bytes.split(separator: .at, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty,
            parts[0].allSatisfy({ $0 >= 0x80 || 0x21..<0x7F ~= $0 && $0 != UInt8(ascii: "\"") }),
            let host = HostName(bytes: parts[1]), parts[1].last != .dot
        else { return nil }
        return (Array(parts[0]) + [.at] + host.bytes, host.bytes)
    }
}

extension [UInt8] {
    /// Whether this host is the root of the subtree or below it. A subtree with a leading dot does
    /// not contain its root.
    func isWithin(_ subtree: [UInt8]) -> Bool {
        guard !subtree.isEmpty else { return true }
        guard count >= subtree.count, suffix(subtree.count).elementsEqual(subtree) else { return false }
        return subtree[0] == .dot
            ? count > subtree.count : count == subtree.count || self[count - subtree.count - 1] == .dot
    }
}
