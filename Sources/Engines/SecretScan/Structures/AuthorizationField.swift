// SPDX-License-Identifier: Apache-2.0

/// Credentials of an HTTP header (RFC 9110 section 11.6.2).
struct AuthorizationField {
    let range: Range<Int>

    /// Reads the credentials behind a scheme's name.
    ///
    /// - Parameter position: of `Basic ` or `Bearer `.
    init?(in text: ScannedText, at position: Int, context: TextContext) {
        let isBasic = text.hasAnyCase("basic ", at: position)
        let start = position + (isBasic ? 6 : 7)
        guard Self.isBehindField(text, position) else { return nil }
        let end = text.end(of: ByteClass.base64.union("=.~"), from: start, limit: 4096)
        guard end - start >= 8 else { return nil }
        let value = text.part(start..<end)
        if isBasic {
            guard Self.hasPassword(value) else { return nil }
        } else {
            guard !Filler.isFiller(value), ValueShape(value).looksRandom, value.count >= 20 else { return nil }
        }
        range = start..<end
    }

    private static func isBehindField(_ text: ScannedText, _ position: Int) -> Bool {
        guard let name = text.first("uthorization", from: position - 24, before: position) else { return false }
        // Between the name and the scheme there are signs alone.
        return text.part(name + 12..<position).allSatisfy { ByteClass(" \t\"':=>,(\\]").contains($0) }
    }

    /// Whether the base64 of `user:password` is there, and the password is no placeholder.
    static func hasPassword(_ value: ArraySlice<UInt8>) -> Bool {
        guard !ValueCheck.isPublished(value), let decoded = EncodedText.base64(value),
            let colon = decoded.firstIndex(of: UInt8(ascii: ":")),
            decoded.allSatisfy({ ByteClass.visible.contains($0) && $0 < 0x80 })
        else { return false }
        let password = decoded[(colon + 1)...]
        guard let name = SecretName("password".utf8), Array(decoded[..<colon]) != Array(password) else { return false }
        return ValueCheck(name: name, context: .configuration, isDelimited: true).isSecret(password)
    }
}
