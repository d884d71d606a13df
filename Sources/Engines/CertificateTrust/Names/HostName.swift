// SPDX-License-Identifier: Apache-2.0

/// The name of a host as a program asks for it: ASCII, internationalised labels in their A-form (`xn--…`, RFC 5890).
public struct HostName: Hashable, Sendable {
    /// In lower case, with a dot between two labels and none at the end.
    let bytes: [UInt8]

    /// Nil where the text is no such name; a dot at its end is allowed. An address is none.
    public init?(_ text: String) { self.init(bytes: text.utf8) }

    /// The same of bytes.
    init?(bytes: some Collection<UInt8>) {
        // A certificate's names come by the thousand, and as long as it likes.
        guard bytes.count <= Self.maxLength + 1 else { return nil }
        var name = bytes.lowercased
        if name.last == .dot { name.removeLast() }
        guard Self.isName(name) else { return nil }
        self.bytes = name
    }

    private static let maxLength = 253

    /// Whether the `dNSName` of a certificate stands for this host (RFC 9525, section 6.3): the same labels, or `*` as the whole of the first.
    ///
    /// A wildcard needs two labels behind it, so that none stands for all of a top-level domain.
    func matches(_ presented: ArraySlice<UInt8>) -> Bool {
        guard presented.starts(with: [.asterisk, .dot]) else {
            return presented.elementsEqual(bytes) { $0.lowercased == $1 }
        }
        guard let dot = bytes.firstIndex(of: .dot) else { return false }
        let rest = bytes[(dot + 1)...]
        return rest.contains(.dot) && presented.dropFirst(2).elementsEqual(rest) { $0.lowercased == $1 }
    }

    /// Labels, of which the last is no number.
    private static func isName(_ name: [UInt8]) -> Bool {
        guard 1...maxLength ~= name.count else { return false }
        let labels = name.split(separator: .dot, omittingEmptySubsequences: false)
        return labels.allSatisfy(isLabel) && !labels[labels.count - 1].allSatisfy(\.isDigit)
    }

    /// Letters, digits, hyphens inside, and the underscore that some hosts have.
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
