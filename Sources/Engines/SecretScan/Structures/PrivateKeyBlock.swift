// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// A private key in a text form, if it is not encrypted: PEM (RFC 7468), OpenSSH, OpenPGP's armor, PuTTY.
struct PrivateKeyBlock {
    let range: Range<Int>

    private static let maxLength = 32_768
    /// In base64: the shortest key, Ed25519 in PKCS #8, has 64 characters.
    private static let minCharacters = 60

    /// Reads the block that begins at a position with `-----BEGIN`.
    init?(in text: ScannedText, at position: Int) {
        let labelStart = position + 11
        guard let labelEnd = text.first("-----", from: labelStart, before: labelStart + 40) else { return nil }
        let label = text.string(labelStart..<labelEnd)
        guard label.hasSuffix("PRIVATE KEY") || label.hasSuffix("PRIVATE KEY BLOCK"), !label.contains("ENCRYPTED")
        else {
            return nil
        }
        let bodyStart = labelEnd + 5
        let maxEnd = min(text.count, bodyStart + Self.maxLength)
        // No block is in another one: the search ends where the next one begins.
        let limit = text.first("-----", from: bodyStart, before: maxEnd) ?? maxEnd
        let end = text.has("-----END", at: limit) ? limit : nil
        let body = bodyStart..<(end ?? limit)
        guard let key = Self.decoded(text, body), Self.isPlain(key, label) else { return nil }
        range = position..<min(text.count, end.map { $0 + 9 + label.utf8.count + 5 } ?? key.end)
    }

    /// Reads a key of PuTTY that begins at a position with `PuTTY-User-Key-File-`.
    init?(puttyIn text: ScannedText, at position: Int) {
        let limit = min(text.count, position + Self.maxLength)
        guard let encryption = text.first("Encryption: ", from: position, before: position + 256),
            text.has("none", at: encryption + 12),
            let lines = text.first("Private-Lines: ", from: encryption, before: min(limit, encryption + 4096))
        else { return nil }
        range = position..<text.line(around: lines).upperBound
    }

    // MARK: Content

    private struct Content {
        let bytes: [UInt8]
        let end: Int
    }

    /// Decodes the base64 of a body. It may be indented, quoted, or have escaped line ends.
    private static func decoded(_ text: ScannedText, _ body: Range<Int>) -> Content? {
        var (characters, position, end) = ([UInt8](), body.lowerBound, body.lowerBound)
        while position < body.upperBound {
            let byte = text[at: position]
            if byte == UInt8(ascii: "\\"), ByteClass("nrt").contains(text[at: position + 1]) {
                position += 2
                continue
            }
            let lineEnd = text.end(of: .notLineEnd, from: position, limit: 200)
            if let colon = text.first(": ", from: position, before: min(lineEnd, body.upperBound)) {
                // A header of the block, such as Proc-Type: 4,ENCRYPTED.
                if text.first("ENCRYPTED", from: colon, before: lineEnd) != nil { return nil }
                position = lineEnd
                continue
            }
            if byte == UInt8(ascii: "=") && characters.count > minCharacters { break }
            // Between quotes, + joins parts of a text.
            let isJoin =
                byte == UInt8(ascii: "+")
                && (!base64.contains(text[at: position - 1]) || !base64.contains(text[at: position + 1]))
            if base64.contains(byte), !isJoin {
                characters.append(byte)
                end = position + 1
            } else if !ByteClass.whiteSpace.union("\"'+,|;>#*").contains(byte) {
                break
            }
            position += 1
        }
        guard characters.count >= minCharacters else { return nil }
        characters.removeLast(characters.count % 4)
        return Base64.bytes(characters).map { Content(bytes: $0, end: end) }
    }

    private static let base64 = ByteClass.alphanumeric.union("+/")

    private static func isPlain(_ content: Content, _ label: String) -> Bool {
        switch label {
        case "OPENSSH PRIVATE KEY": isPlainOpenSSH(content.bytes)
        case "PGP PRIVATE KEY BLOCK": OpenPGPKey.isPlain(content.bytes)
        // The sequence of PKCS #1, SEC 1 and PKCS #8, of more than its own header.
        default: content.bytes.first == 0x30 && Set(content.bytes).count > 16
        }
    }

    /// OpenSSH's PROTOCOL.key: the name of the cipher is the first field.
    private static func isPlainOpenSSH(_ bytes: [UInt8]) -> Bool {
        var fields = FieldReader(bytes)
        guard fields.array(15) == Array("openssh-key-v1\0".utf8), let count: UInt32 = fields.number(),
            let cipher = fields.array(Int(count))
        else { return false }
        return cipher == Array("none".utf8)
    }
}

/// The beginning of a secret key of OpenPGP (RFC 9580 section 5.5).
private enum OpenPGPKey {
    /// Whether the first packet is a secret key without a passphrase. A version of keys that is unknown counts as one.
    static func isPlain(_ bytes: [UInt8]) -> Bool {
        var fields = FieldReader(bytes)
        guard let tag: UInt8 = fields.number(), tag & 0x80 != 0 else { return false }
        let isNew = tag & 0x40 != 0
        guard (isNew ? tag & 0x3F : tag >> 2 & 0x0F) == 5 else { return false }
        guard let first: UInt8 = fields.number() else { return false }
        let more = isNew ? (first < 192 ? 0 : first < 224 ? 1 : 4) : [0, 1, 3, 0][Int(tag & 3)]
        guard fields.bytes(more) != nil, let version: UInt8 = fields.number() else { return false }
        guard version == 4 else { return true }
        guard fields.bytes(4) != nil, let algorithm: UInt8 = fields.number() else { return false }
        for _ in 0..<publicNumbers(of: algorithm) { guard skipNumber(&fields) else { return false } }
        if [18, 19, 22].contains(algorithm) {
            guard skipShort(&fields), skipNumber(&fields), algorithm != 18 || skipShort(&fields) else { return false }
        }
        guard let usage: UInt8 = fields.number() else { return false }
        return usage == 0
    }

    private static func publicNumbers(of algorithm: UInt8) -> Int {
        switch algorithm {
        case 1, 2, 3: 2
        case 16: 3
        case 17: 4
        default: 0
        }
    }

    private static func skipNumber(_ fields: inout FieldReader<ArraySlice<UInt8>>) -> Bool {
        guard let bits: UInt16 = fields.number() else { return false }
        return fields.bytes((Int(bits) + 7) / 8) != nil
    }

    private static func skipShort(_ fields: inout FieldReader<ArraySlice<UInt8>>) -> Bool {
        guard let count: UInt8 = fields.number() else { return false }
        return fields.bytes(Int(count)) != nil
    }
}
