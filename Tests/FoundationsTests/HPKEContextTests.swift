// SPDX-License-Identifier: Apache-2.0

import Foundation
import LinuxSystem
import OpenSSLCrypto
import SecretMemory
import Testing

@Suite("Contexts of HPKE")
struct HPKEContextTests {
    struct Vector: Decodable, Sendable, CustomTestStringConvertible {
        struct Message: Decodable, Sendable {
            let number: UInt64
            let aad, plaintext, ciphertext: String
        }

        let kem: UInt16
        let mode: UInt8
        let info, sharedSecret: String
        let messages: [Message]

        var testDescription: String { "KEM \(kem), mode \(mode)" }
    }

    private struct File: Decodable { let vectors: [Vector] }

    static let vectors: [Vector] = {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Vectors/hpke.json")
        guard let data = try? Data(contentsOf: path) else { return [] }
        return (try? JSONDecoder().decode(File.self, from: data))?.vectors ?? []
    }()

    @Test("The vectors of RFC 9180 are there") func count() { #expect(Self.vectors.count == 4) }

    @Test("The messages of RFC 9180 are sealed and opened with their numbers", arguments: vectors)
    func messages(_ vector: Vector) throws {
        let encapsulation = try #require(HPKEKeyEncapsulation(rawValue: vector.kem))
        let mode = try #require(HPKEContext.Mode(rawValue: vector.mode))
        let context = HPKEContext(
            encapsulation, mode, sharedSecret: SecretBytes(Self.bytes(vector.sharedSecret)),
            info: Self.bytes(vector.info))
        for message in vector.messages {
            let additional = Self.bytes(message.aad)
            let (plaintext, ciphertext) = (Self.bytes(message.plaintext), Self.bytes(message.ciphertext))
            let sealed = try SecretBytes(plaintext).withUnsafeBytes { (bytes) throws(OpenSSLError) in
                try context.seal(bytes, number: message.number, authenticating: additional)
            }
            #expect(sealed == ciphertext)
            let secret = SecretBytes(ciphertext)
            for (number, isRight) in [(message.number, true), (message.number ^ 1 << 40, false)] {
                let opened = try secret.withUnsafeBytes { (bytes) throws(OpenSSLError) in
                    try context.open(bytes, number: number, authenticating: additional)
                }
                #expect((opened == SharedSecret(copying: plaintext)) == isRight)
            }
        }
    }

    private static func bytes(_ text: String) -> [UInt8] {
        Hexadecimal.bytes(text.utf8) ?? []
    }
}
