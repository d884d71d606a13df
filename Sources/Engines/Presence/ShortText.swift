// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// Untrusted text in its printable form, with a maximum length in bytes, that can stand between
/// quotation marks.
struct ShortText: Hashable, Sendable {
    let string: String

    /// - Parameters:
    ///   - maxLength: in bytes of UTF-8, without the ellipsis. A percent sign counts as three,
    ///     because the protocol of pinentry escapes it.
    ///   - keepsEnd: whether the end of a long text is shown as well as its beginning, as is useful
    ///     for a path.
    init(_ text: String, maxLength: Int, keepsEnd: Bool = false) {
        // Each scalar has one byte or more, so that no more of them can be shown.
        let scalars = text.unicodeScalars
        let first = Self.printable(scalars.prefix(maxLength + 1))
        if scalars.count <= maxLength, Self.cost(of: first) <= maxLength {
            string = first.joined()
            return
        }
        let headLength = keepsEnd ? maxLength / 3 : maxLength
        let head = Self.beginning(of: first, maxLength: headLength)
        let last = keepsEnd ? Self.printable(scalars.suffix(maxLength)) : []
        let tail = Self.beginning(of: last.reversed(), maxLength: maxLength - headLength).reversed()
        string = head.joined() + "…" + tail.joined()
    }

    /// The printable form of each scalar, so that no escape is cut.
    private static func printable(_ scalars: some Sequence<Unicode.Scalar>) -> [String] {
        scalars.map { scalar in
            // Quotation marks would seem to end the quotation.
            if scalar.properties.isQuotationMark { return "'" }
            return PrintableText(String(scalar)).string
        }
    }

    private static func beginning(of parts: [String], maxLength: Int) -> [String] {
        var left = maxLength
        return Array(
            parts.prefix { part in
                left -= cost(of: [part])
                return left >= 0
            })
    }

    private static func cost(of parts: [String]) -> Int {
        parts.reduce(0) { $0 + $1.utf8.reduce(0) { $0 + ($1 == UInt8(ascii: "%") ? 3 : 1) } }
    }
}
