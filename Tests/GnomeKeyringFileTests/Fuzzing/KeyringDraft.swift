// SPDX-License-Identifier: Apache-2.0

import OpenSSLCrypto

/// A keyring in the encrypted format, with any content.
struct KeyringDraft {
    static let password: [UInt8] = Array("password".utf8)

    var version: [UInt8] = [0, 0, 0, 0]
    var label: [UInt8] = Self.text("Draft")
    var iterations: UInt32 = 1
    var count: UInt32
    /// The plain parts of the items.
    var heads: [UInt8]
    /// The bytes that are encrypted after the MD5, without padding.
    var content: [UInt8]

    /// A keyring with `items`, each of them the encrypted part of one.
    init(_ items: [[UInt8]] = []) {
        count = UInt32(items.count)
        heads = items.indices.flatMap { Self.head(UInt32($0)) }
        content = items.flatMap { $0 }
    }

    func encoded() throws -> [UInt8] {
        let salt: [UInt8] = Array(1...8)
        let plaintext = content + [UInt8](repeating: 0, count: (16 - content.count % 16) % 16)
        let ciphertext = try encrypted(Self.digest(.md5, plaintext) + plaintext, salt)
        let parts: [[UInt8]] = [
            Array("GnomeKeyring\n\r\0\n".utf8), version, label, Self.time(10), Self.time(20), Self.number(0),
            Self.number(0), Self.number(iterations), salt, [UInt8](repeating: 0, count: 16), Self.number(count), heads,
            Self.number(UInt32(ciphertext.count)), ciphertext,
        ]
        return parts.flatMap { $0 }
    }

    private func encrypted(_ plaintext: [UInt8], _ salt: [UInt8]) throws -> [UInt8] {
        var material = Self.digest(.sha256, Self.password + salt)
        for _ in 1..<max(iterations, 1) { material = Self.digest(.sha256, material) }
        let cipher = try Self.cipher(Array(material.prefix(16)), Array(material.dropFirst(16)))
        var output = [UInt8](repeating: 0, count: plaintext.count)
        try plaintext.withUnsafeBytes { input in
            try output.withUnsafeMutableBytes { output in _ = try cipher.update(with: input, into: output) }
        }
        return output
    }

    private static func cipher(_ key: [UInt8], _ vector: [UInt8]) throws -> BlockCipher {
        try key.withUnsafeBytes { key in
            try vector.withUnsafeBytes { vector in
                try BlockCipher(.aes128CBC, .encrypt, isPadded: false, key: key, vector: vector)
            }
        }
    }

    private static func digest(_ function: DigestFunction, _ bytes: [UInt8]) -> [UInt8] {
        var state = HashState()
        state.start(function)
        bytes.withUnsafeBytes { state.update(function, with: $0) }
        return [UInt8](unsafeUninitializedCapacity: function.byteCount) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            state.finish(function, into: start)
            count = function.byteCount
        }
    }

    // MARK: Parts

    /// The plain part of an item.
    static func head(_ identifier: UInt32) -> [UInt8] { number(identifier) + [UInt8](repeating: 0, count: 8) }

    /// The encrypted part of an item.
    static func item(_ label: String, _ secret: String, attributes: [UInt8] = Self.number(0)) -> [UInt8] {
        let parts: [[UInt8]] = [
            text(label), text(secret), time(1), time(2), none, [UInt8](repeating: 0, count: 16), attributes, number(0),
        ]
        return parts.flatMap { $0 }
    }

    static func number(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
    static func time(_ seconds: UInt64) -> [UInt8] { withUnsafeBytes(of: seconds.bigEndian) { Array($0) } }
    static func text(_ text: String) -> [UInt8] { number(UInt32(text.utf8.count)) + Array(text.utf8) }
    static let none: [UInt8] = number(.max)
}
