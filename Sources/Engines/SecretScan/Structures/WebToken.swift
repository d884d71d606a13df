// SPDX-License-Identifier: Apache-2.0

/// A signed JSON Web Token (RFC 7519).
struct WebToken {
    let range: Range<Int>

    /// Reads the token that begins at a position with `eyJ`.
    init?(in text: ScannedText, at position: Int) {
        guard !ByteClass.base64.contains(text[at: position - 1]) || text[at: position - 1] == UInt8(ascii: "/") else {
            return nil
        }
        let headerEnd = text.end(of: .wordOrHyphen, from: position, limit: 2048)
        let payloadEnd = text.end(of: .wordOrHyphen, from: headerEnd + 1, limit: 16_384)
        let end = text.end(of: .wordOrHyphen, from: payloadEnd + 1, limit: 2048)
        let dot = UInt8(ascii: ".")
        guard text[at: headerEnd] == dot, text[at: payloadEnd] == dot, end - payloadEnd > 21, text[at: end] != dot
        else {
            return nil
        }
        guard let header = EncodedText.base64(text.part(position..<headerEnd)), header.first == UInt8(ascii: "{"),
            String(decoding: header, as: UTF8.self).contains("\"alg\""),
            let payload = EncodedText.base64(text.part(headerEnd + 1..<payloadEnd)), payload.first == UInt8(ascii: "{")
        else { return nil }
        // The subject of the usual example.
        guard !String(decoding: payload, as: UTF8.self).contains("\"1234567890\"") else { return nil }
        range = position..<end
    }
}
