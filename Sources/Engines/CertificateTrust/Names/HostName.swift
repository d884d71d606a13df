// SPDX-License-Identifier: Apache-2.0

/// The name of a host as a program asks for it: ASCII, internationalised labels in their A-form (`xn--…`, RFC 5890).
public struct HostName: Hashable, Sendable {
    /// In lower case, the host's own first.
    let labels: [Substring]

    /// Nil where the text is no such name; a dot at its end is allowed. An address is none.
    public init?(_ text: String) {
        // Before lower case is made: the Kelvin sign's is k.
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        var text = Substring(text.lowercased())
        if text.hasSuffix(".") { text.removeLast() }
        guard let labels = Self.labels(text), labels.allSatisfy(Self.isLabel), !labels[labels.count - 1].utf8.allSatisfy(\.isDigit) else {
            return nil
        }
        self.labels = labels
    }

    /// Whether the `dNSName` of a certificate stands for this host (RFC 9525, section 6.3): the same labels, or `*` as the whole of the first.
    ///
    /// A wildcard needs two labels behind it, so that none stands for all of a top-level domain.
    func matches(_ presented: ArraySlice<UInt8>) -> Bool {
        guard let theirs = Self.labels(Substring(String(decoding: presented, as: UTF8.self).lowercased())) else { return false }
        guard theirs.count == labels.count, theirs.dropFirst().allSatisfy(Self.isLabel) else { return false }
        guard theirs[0] == "*" else { return Self.isLabel(theirs[0]) && theirs == labels }
        return theirs.count >= 3 && theirs.dropFirst() == labels.dropFirst()
    }

    private static func labels(_ text: Substring) -> [Substring]? {
        guard 1...253 ~= text.utf8.count else { return nil }
        return text.split(separator: ".", omittingEmptySubsequences: false)
    }

    /// Letters, digits, hyphens inside, and the underscore that some hosts have.
    private static func isLabel(_ label: Substring) -> Bool {
        1...63 ~= label.utf8.count && label.utf8.first != .hyphen && label.utf8.last != .hyphen
            && label.utf8.allSatisfy { $0.isDigit || $0.isLowercaseLetter || $0 == .hyphen || $0 == UInt8(ascii: "_") }
    }
}

// MARK: CustomStringConvertible

extension HostName: CustomStringConvertible {
    public var description: String { labels.joined(separator: ".") }
}

extension UInt8 {
    fileprivate static let hyphen = UInt8(ascii: "-")
    fileprivate var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }
    fileprivate var isLowercaseLetter: Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= self }
}
