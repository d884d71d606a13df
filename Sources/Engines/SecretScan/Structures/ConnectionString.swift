// SPDX-License-Identifier: Apache-2.0

/// A URL with a password (RFC 3986 section 3.2.1).
struct ConnectionString {
    /// The password.
    let password: Range<Int>
    let user: Range<Int>
    let host: Range<Int>

    /// Reads the URL with `://` at a position.
    init?(in text: ScannedText, at position: Int) {
        let start = position + 3
        let stop = Self.authorityEnd
        let end = text.first(of: stop, from: start, before: min(text.count, start + 512))
        guard let at = (start..<max(start, end)).last(where: { text[at: $0] == UInt8(ascii: "@") }) else { return nil }
        let colon = text.first(of: ByteClass(":"), from: start, before: at)
        guard colon < at, at - colon > 1 else { return nil }
        (user, password) = (start..<colon, colon + 1..<at)
        host = at + 1..<text.end(of: ByteClass.wordHyphenDot.union("[]:"), from: at + 1, limit: 256)
        guard !host.isEmpty else { return nil }
    }

    private static let authorityEnd = ByteClass { $0 <= 0x20 || ByteClass("/\"'`<>\\?#,;|").contains($0) }

    /// The whole URL.
    func range(in text: ScannedText) -> Range<Int> {
        let start = text.start(of: Self.scheme, to: user.lowerBound - 3, limit: 64)
        // A type of connection stands before the URL.
        let type = text.has("jdbc:", at: start - 5) ? 5 : 0
        return start - type..<text.end(of: Self.rest, from: host.upperBound, limit: 4096)
    }

    private static let scheme = ByteClass.wordHyphenDot.union("+")
    private static let rest = ByteClass { ByteClass.visible.contains($0) && !ByteClass("\"'`<>|").contains($0) }

    /// Whether the host is one of documentation (RFC 2606).
    func isExample(in text: ScannedText) -> Bool {
        let name = text.string(host).lowercased()
        return ["example", "host", "hostname", "server", "foo", "bar", "domain", "site", "proxy"].contains {
            name == $0 || name.hasPrefix("\($0).") || name.hasPrefix("\($0):") || name.contains(".\($0)")
        }
    }
}
