// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import LinuxSystem
import Testing

import Latchkey
@testable import LatchkeyPayloads

/// A box that Tests/Vectors/payload-box.py sealed.
struct PayloadVector: Decodable, Sendable, CustomTestStringConvertible {
    private let suite, recipient, context, data, head, digest, ephemeral: String
    private let sender, box: String?
    let count: Int

    var testDescription: String { "\(suite), \(count) bytes\(sender == nil ? "" : " of a sender")" }

    var headBytes: Data { Self.data(head) }
    /// The SHA-256 of the box.
    var boxDigest: Data { Self.data(digest) }
    var contextData: Data { Self.data(context) }
    var additionalData: Data { Self.data(data) }
    /// The bytes of a short box.
    var boxBytes: Data? { box.map(Self.data) }

    /// Byte i is 31 i mod 251.
    var payload: Data { Data((0..<count).map { UInt8($0 * 31 % 251) }) }

    func recipientKey() throws -> PayloadPrivateKey { try key(recipient) }
    func ephemeralKey() throws -> PayloadPrivateKey { try key(ephemeral) }

    private func key(_ text: String) throws -> PayloadPrivateKey {
        try suite == "p256"
            ? PayloadPrivateKey(Self.p256(Self.data(text))) : PayloadPrivateKey(.x25519, secret: Self.data(text))
    }

    /// nil for a box without a sender.
    func senderKey() throws -> PayloadPrivateKey? { try sender.map(key) }

    static func all() throws -> [PayloadVector] {
        struct File: Decodable { let vectors: [PayloadVector] }
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../Vectors/payload-box.json")
        return try JSONDecoder().decode(File.self, from: Data(contentsOf: path)).vectors
    }

    private static func data(_ text: String) -> Data {
        Data(Hexadecimal.bytes(text.utf8) ?? [])
    }

    private static func p256(_ x963: Data) throws -> P256AgreementKey {
        try P256AgreementKey(P256.KeyAgreement.PrivateKey(x963Representation: x963))
    }
}
