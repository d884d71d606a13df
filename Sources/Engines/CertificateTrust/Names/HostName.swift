// SPDX-License-Identifier: Apache-2.0

/// A host name to verify a certificate for: ASCII, with internationalized labels as A-labels
/// (`xn--…`, RFC 5890).
public struct HostName: Hashable, Sendable {
    /// In lower case, without a trailing dot.
    let bytes: [UInt8]

    /// Nil if the text is not a host name. A trailing dot is allowed; an IP address is not.
    public init?(_ text: String) { self.init(bytes: text.utf8) }

    /// The same, from bytes.
    init?(bytes: some Collection<UInt8>) {
        // A certificate can have thousands of names of any length.
        guard bytes.count <= Self.maxLength + 1 else { return nil }
        var name = bytes.lowercased
        if name.last == .dot { name.removeLast() }
        guard Self.isName(name) else { return nil }
        self.bytes = name
    }

    private static let maxLength = 253

    /// Whether a certificate's `dNSName` matches this host (RFC 9525, section 6.3): the labels are
    /// equal, or the whole first label is `*`.
    ///
    /// At least two labels must follow a wildcard, so that it cannot match a whole top-level
    /// domain.
    func matches(_ presented: ArraySlice<UInt8>) -> Bool {
        guard presented.starts(with: [.asterisk, .dot]) else {
            return presented.elementsEqual(bytes) { $0.lowercased == $1 }
        }
        guard let dot = bytes.firstIndex(of: .dot) else { return false }
        let rest = bytes[(dot + 1)...]
        return rest.contains(.dot) && presented.dropFirst(2).elementsEqual(rest) { $0.lowercased == $1 }
    }

    /// The number of labels of this name before those of `parent`: 0 for the same name, 1 for
    /// `www.example.com` below `example.com`; nil if the name is neither `parent` nor below it.
    public func labels(below parent: HostName) -> Int? {
        if self == parent { return 0 }
        guard bytes.count > parent.bytes.count, bytes.suffix(parent.bytes.count).elementsEqual(parent.bytes) else {
            return nil
        }
        let front = bytes.dropLast(parent.bytes.count)
        return front.last == .dot ? front.count { $0 == .dot } : nil
    }

    /// The labels, the first one first.
    public var labels: [Substring] { description.split(separator: ".") }

    /// Whether this is a sequence of valid labels and the last one is not a number.
    private static func isName(_ name: [UInt8]) -> Bool {
        guard 1...maxLength ~= name.count else { return false }
        let labels = name.split(separator: .dot, omittingEmptySubsequences: false)
        return labels.allSatisfy(isLabel) && !labels[labels.count - 1].allSatisfy(\.isDigit)
    }

    /// Letters, digits, inner hyphens, and underscores (some hosts use them).
    private static func isLabel(_ label: ArraySlice<UInt8>) -> Bool {
        1...63 ~= label.count && label.first != .hyphen && label.last != .hyphen
            && label.allSatisfy { $0.isDigit || $0.isLowercaseLetter || $0 == .hyphen || $0 == UInt8(ascii: "_") }
    }
}

// MARK: CustomStringConvertible

extension HostName: CustomStringConvertible {
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}

extension UInt8 {
    fileprivate static let hyphen = UInt8(ascii: "-")
    fileprivate var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }
    fileprivate var isLowercaseLetter: Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= self }
}
