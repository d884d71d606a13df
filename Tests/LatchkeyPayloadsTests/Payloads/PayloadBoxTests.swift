// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import KeychainTesting
import SecretMemory
import Testing

import Latchkey
@testable import LatchkeyPayloads

/// Documentation/Formats/payload-box.md.
@Suite("Payload boxes")
struct PayloadBoxTests {
    private let chunk = 64 * 1024

    private func status(_ body: () throws -> Void) throws -> Int {
        Int(try #require(throws: KeychainError.self) { try body() }.status.rawValue)
    }

    private static func bytes(_ secret: SecretMemory.SharedSecret) -> Data { secret.withUnsafeBytes { Data($0) } }

    private static func payload(_ count: Int) -> Data { Data((0..<count).map { UInt8($0 * 31 % 251) }) }

    @Test("BOX-1, BOX-4, BOX-5: boxes are those of a second implementation, byte by byte")
    func vectors() throws {
        let vectors = try PayloadVector.all()
        #expect(vectors.count == 20)
        for vector in vectors {
            let (key, sender) = (try vector.recipientKey(), try vector.senderKey())
            var sealer = try PayloadSealer(
                to: key.publicKey, from: sender, context: vector.contextData, authenticating: vector.additionalData,
                ephemeral: vector.ephemeralKey())
            var box = try sealer.update(vector.payload)
            box += try sealer.finish()
            #expect(box.starts(with: vector.headBytes), "\(vector)")
            #expect(Data(SHA256.hash(data: box)) == vector.boxDigest, "\(vector)")
            if let bytes = vector.boxBytes { #expect(box == bytes) }
            let opened = try PayloadBox.open(
                box, with: key, from: sender?.publicKey, context: vector.contextData,
                authenticating: vector.additionalData)
            #expect(Self.bytes(opened) == vector.payload, "\(vector)")
        }
    }

    @Test(
        "A payload of any length is opened by the recipient's key, in one or in parts", arguments: PayloadSuite.allCases
    )
    func lengths(_ suite: PayloadSuite) throws {
        let (key, sender) = (try PayloadPrivateKey.generate(suite), try PayloadPrivateKey.generate(suite))
        for origin in suite.authenticatesSenders ? [nil, sender] : [nil] {
            for count in [0, 1, chunk - 1, chunk, chunk + 1, 2 * chunk, 3 * chunk + 17] {
                let payload = Self.payload(count)
                let box = try PayloadBox.seal(payload, to: key.publicKey, from: origin, context: Data([1]))
                let opened = try PayloadBox.open(box, with: key, from: origin?.publicKey, context: Data([1]))
                #expect(Self.bytes(opened) == payload)
                for step in [977, chunk, chunk + 16] {
                    #expect(try Self.openedInParts(box, step, key, origin?.publicKey) == payload)
                }
            }
        }
    }

    private static func openedInParts(_ box: Data, _ step: Int, _ key: PayloadPrivateKey, _ sender: PayloadPublicKey?)
        throws -> Data
    {
        var opener = try PayloadOpener(with: key, from: sender, context: Data([1]))
        var payload = Data()
        for start in stride(from: 0, to: box.count, by: step) {
            payload += bytes(try opener.update(box[box.startIndex + start..<min(box.endIndex, start + step)]))
        }
        return payload + bytes(try opener.finish())
    }

    @Test("Parts of any size, as data or secrets, are sealed into a box that opens")
    func parts() throws {
        let key = try PayloadPrivateKey.generate(.x25519)
        let payload = Self.payload(2 * chunk + 5)
        for step in [1009, chunk, chunk + 1] {
            var sealer = try PayloadSealer(to: key.publicKey)
            var box = Data()
            for (index, start) in stride(from: 0, to: payload.count, by: step).enumerated() {
                let part = payload[start..<min(payload.count, start + step)]
                box += try index.isMultiple(of: 2) ? sealer.update(part) : sealer.update(part.sharedSecret())
            }
            box += try sealer.finish()
            #expect(Self.bytes(try PayloadBox.open(box, with: key)) == payload)
        }
    }

    @Test(
        "BOX-6: swift-crypto opens a box of each suite with HPKE, and we open its boxes",
        arguments: PayloadSuite.allCases)
    func judgedBySwiftCrypto(_ suite: PayloadSuite) throws {
        try CryptoPayloads.compare(suite, payload: Self.payload(1000))
    }

    @Test("A key of the keychain that cannot be extracted opens boxes and authenticates its sender")
    func keychainKeys() throws {
        let keychain = try Keychain.ephemeral()
        let stored = try keychain.generate(P256AgreementKey.self, tag: "recipient", isExtractable: false)
        let from = try keychain.generate(P256AgreementKey.self, tag: "sender", isExtractable: false)
        let (key, sender) = (try PayloadPrivateKey(stored), try PayloadPrivateKey(from))
        #expect(try status { _ = try stored.externalRepresentation() } == -4)
        let box = try PayloadBox.seal("a payload", to: key.publicKey, from: sender)
        #expect(Self.bytes(try PayloadBox.open(box, with: key, from: sender.publicKey)) == Data("a payload".utf8))
        #expect(try status { _ = try key.secret } == -4)
        try keychain.deleteKey(tag: "recipient")
        #expect(try status { _ = try PayloadBox.open(box, with: key, from: sender.publicKey) } == -25300)
    }

    @Test("BOX-2: every flipped bit of a box is refused", .long, arguments: PayloadSuite.allCases)
    func flippedBits(_ suite: PayloadSuite) throws {
        let key = try PayloadPrivateKey.generate(suite)
        let sender = suite.authenticatesSenders ? try PayloadPrivateKey.generate(suite) : nil
        let box = try PayloadBox.seal("pay 10 to Alice", to: key.publicKey, from: sender)
        for index in box.indices {
            for bit in suite == .xWing ? [index % 8] : Array(0..<8) {
                var changed = box
                changed[index] ^= 1 << bit
                let status = try status { _ = try PayloadBox.open(changed, with: key, from: sender?.publicKey) }
                let expected = index < 8 ? [-26275] : index < 12 ? [-4, -50] : [-67808]
                #expect(expected.contains(status), "byte \(index), bit \(bit): \(status)")
            }
        }
    }

    @Test("BOX-2, BOX-5: boxes that are cut, reordered, repeated, spliced or extended are refused")
    func chunks() throws {
        let key = try PayloadPrivateKey.generate(.x25519)
        let head = 12 + 32, sealed = chunk + 16
        let box = try PayloadBox.seal(Self.payload(3 * chunk), to: key.publicKey)
        let other = try PayloadBox.seal(Self.payload(3 * chunk), to: key.publicKey)
        let (start, first, second, third) = (
            box.prefix(head), box[head..<head + sealed], box[head + sealed..<head + 2 * sealed],
            box[(head + 2 * sealed)...]
        )
        #expect(box == start + first + second + third)
        let boxes: [String: Data] = [
            "without its last chunk": start + first + second, "without its first chunk": start + second + third,
            "without a middle chunk": start + first + third, "in another order": start + second + first + third,
            "with a repeated chunk": start + first + first + second + third, "the head alone": start,
            "cut in a chunk": box.dropLast(1), "cut to a tag": start + first + second + third.prefix(16),
            "with a byte more": box + [0], "with an empty chunk more": box + third.suffix(16),
            "with a chunk of another box": start + first + other[head + sealed..<head + 2 * sealed] + third,
            "with the head of another box": other.prefix(head) + first + second + third,
        ]
        for (name, changed) in boxes {
            #expect(try status { _ = try PayloadBox.open(changed, with: key) } == -67808, "\(name)")
        }
        for length in 0..<head {
            let status = try status { _ = try PayloadBox.open(box.prefix(length), with: key) }
            #expect(status == (length == 0 ? -26275 : -67808), "the first \(length) bytes")
        }
    }

    @Test("BOX-7: an empty last chunk after a full one is refused, although it is authentic")
    func oneForm() throws {
        let key = try PayloadPrivateKey.generate(.x25519)
        let header = try PayloadHeader(Array("LKPAYBOX".utf8) + [1, 0, 0x00, 0x20])
        let binding = try PayloadBinding(context: Data(), authenticating: Data())
        let (encapsulated, keys) = try PayloadAgreement.send(header, to: key.publicKey, from: nil, binding)
        let full = try Self.sealed(keys, [UInt8](repeating: 7, count: chunk), 0, binding.additionalData(isLast: false))
        let empty = try Self.sealed(keys, [], 1, binding.additionalData(isLast: true))
        let last = try Self.sealed(keys, [7], 1, binding.additionalData(isLast: true))
        let start = header.bytes + encapsulated + full
        #expect(try PayloadBox.open(start + last, with: key).count == chunk + 1)
        #expect(try status { _ = try PayloadBox.open(start + empty, with: key) } == -67808)
    }

    private static func sealed(_ keys: KeysReference, _ bytes: [UInt8], _ number: UInt64, _ data: [UInt8]) throws
        -> [UInt8]
    {
        try SecretBytes(bytes).withUnsafeBytes { (bytes) throws(KeychainError) in
            try keys.seal(bytes, number: number, authenticating: data)
        }
    }

    @Test(
        "BOX-3: another recipient, sender, context or additional data opens nothing", arguments: PayloadSuite.allCases)
    func bindings(_ suite: PayloadSuite) throws {
        let (key, stranger) = (try PayloadPrivateKey.generate(suite), try PayloadPrivateKey.generate(suite))
        let (context, data) = (Data("orders".utf8), Data("order 17".utf8))
        let box = try PayloadBox.seal("x", to: key.publicKey, context: context, authenticating: data)
        #expect(try PayloadBox.open(box, with: key, context: context, authenticating: data).count == 1)
        let refused: [(PayloadPrivateKey, Data, Data)] = [
            (stranger, context, data), (key, Data(), data), (key, context, Data()), (key, data, context),
            (key, context + [0], data), (key, context, data + [0]),
        ]
        for (key, context, data) in refused {
            #expect(
                try status { _ = try PayloadBox.open(box, with: key, context: context, authenticating: data) } == -67808
            )
        }
        guard suite.authenticatesSenders else { return }
        let sender = try PayloadPrivateKey.generate(suite)
        let signed = try PayloadBox.seal("x", to: key.publicKey, from: sender)
        #expect(try PayloadBox.open(signed, with: key, from: sender.publicKey).count == 1)
        #expect(try status { _ = try PayloadBox.open(signed, with: key, from: stranger.publicKey) } == -67808)
        #expect(try status { _ = try PayloadBox.open(signed, with: key) } == -50, "a sender is not ignored")
        let anonymous = try PayloadBox.seal("x", to: key.publicKey)
        #expect(try status { _ = try PayloadBox.open(anonymous, with: key, from: sender.publicKey) } == -50)
    }

    @Test("BOX-8: unusable keys, contexts and boxes are refused by name")
    func refusals() throws {
        let key = try PayloadPrivateKey.generate(.p256)
        let (other, hybrid) = (try PayloadPrivateKey.generate(.x25519), try PayloadPrivateKey.generate(.xWing))
        #expect(try status { _ = try PayloadBox.seal("x", to: hybrid.publicKey, from: hybrid) } == -50)
        #expect(try status { _ = try PayloadBox.seal("x", to: key.publicKey, from: other) } == -50)
        #expect(try status { _ = try PayloadSealer(to: key.publicKey, context: Data(count: 65_537)) } == -50)
        let box = try PayloadBox.seal("x", to: key.publicKey)
        #expect(try status { _ = try PayloadBox.open(box, with: other) } == -50)
        #expect(try status { _ = try PayloadBox.open(Data("LKBACKUP and more".utf8), with: key) } == -26275)
        var newer = box
        newer[8] = 2
        #expect(try status { _ = try PayloadBox.open(newer, with: key) } == -4)
        #expect(try status { _ = try PayloadPrivateKey(.p256, secret: Data(count: 32)) } == -50)
        for (suite, count) in [(PayloadSuite.x25519, 31), (.xWing, 33), (.x25519, 0)] {
            #expect(try status { _ = try PayloadPrivateKey(suite, secret: Data(count: count)) } == -50)
        }
    }

    @Test("BOX-8: a public key that is not one is refused", arguments: [0, 31, 32, 33, 65, 1216])
    func publicKeys(_ count: Int) throws {
        // Zeros: a point of small order for X25519, no point for P-256. X-Wing ends with X25519.
        for suite in [PayloadSuite.p256, .x25519] {
            #expect(try status { _ = try PayloadPublicKey(suite, rawRepresentation: Data(count: count)) } == -50)
        }
        if count != 1216 {
            #expect(try status { _ = try PayloadPublicKey(.xWing, rawRepresentation: Data(count: count)) } == -50)
        }
    }

    @Test("A failed opener throws the same for everything that follows")
    func failedOpener() throws {
        let key = try PayloadPrivateKey.generate(.x25519)
        let box = try PayloadBox.seal(Self.payload(2 * chunk), to: key.publicKey)
        var opener = try PayloadOpener(with: key)
        var changed = box
        changed[100] ^= 1
        let first = #expect(throws: KeychainError.self) { try opener.update(changed) }
        let second = #expect(throws: KeychainError.self) { try opener.update(box) }
        #expect(first?.status == .verifyFailed && first == second)
        do {
            _ = try opener.finish()
            Issue.record("the opener finished")
        } catch {
            #expect(error == first)
        }
    }

    @Test("The secret of a key in memory makes the same key again", arguments: [PayloadSuite.x25519, .xWing])
    func secrets(_ suite: PayloadSuite) throws {
        let keychain = try Keychain.ephemeral()
        let item = GenericPassword(service: "payloads", account: "key")
        let key = try PayloadPrivateKey.generate(suite)
        try keychain.set(item, to: key.secret)
        let box = try PayloadBox.seal("x", to: key.publicKey)
        let again = try PayloadPrivateKey(suite, secret: SharedSecret(keychain.secret(for: item)))
        #expect(again.publicKey == key.publicKey)
        #expect(Self.bytes(try PayloadBox.open(box, with: again)) == Data("x".utf8))
    }
}
