// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import LinuxSystem
import OpenSSLCrypto
import SecretMemory
@testable import SecretService
import SecretTransfer
import SystemBus
import Testing

@Suite("Keys of sessions")
struct SessionCipherTests {
    /// A key exchange, computed with Python's integers and hmac.
    struct Vector: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let privateKey: String
        let publicKey: String
        let key: String
        let zeros: Int
    }

    private static let own = "b9d0e521d64fc9cb8b0e568f50b467fdb6aef21fef497765dacf74bb819cab77"

    static let vectors = [
        Vector(
            testDescription: "a secret of full length",
            privateKey: "b4d3c6daf28d4efc8d02cd161570199c59ed9f39bdc5caf700c35567c47cdfed",
            publicKey:
                "1ef8bf04750b9453c70fe75b251d0e7a627947d883ad9a539d2904531cb17023344c2ffb02e64137e8956bb89674444c9f42dc5d2fbc159a302eac60dfd5ad8782b52e926b6209bf930c858d8d77faf3e9459c1c229774eb1cb7635a01300254e37a7e5279ba628c7f3d5445d74dbf60721b40ea32d599337dbbc2ed5269c44f",
            key: "c6f46e73e22ae993c4a3763ce77cf0bb", zeros: 0),
        Vector(
            testDescription: "a public key that begins with a zero byte",
            privateKey: "74b0baeada04d1c46830362410f592d41c565c9034c2097e7577e5e19b8fc378",
            publicKey:
                "009e4ce2197cc29f67dd0f297e807fec009cf87a437d64331c12c083ed34b87233c1e09b7f5ee136955861096bfa2de817dd2b4ee399aa2642a91e0410dae84924e7836dae63f69428895d8affd39e2f9bfd81d8083e7d4bc243ad144b969c83eaed830db1d89cbc43b1e58facfbf98aa6309ececf65a720d34c5c92184f81a3",
            key: "3f2921200d452ee9b8fcc436acc95c3c", zeros: 0),
        Vector(
            testDescription: "a shared secret that begins with a zero byte",
            privateKey: "4833527fcefe12652867eee00810499d33f4dd9f534fb041d06eb33a3ba2d8e3",
            publicKey:
                "0712ad23d94ec814db32b1654867bde5e731462bcbd78ffa8dc4ea69d7a0182433f907eb82bde48153ecc67e60a7ee1eee15f3dcca68d265244c6c69a29013d4852145781982ec5fc418fb914b14fbac201d4e3fbf7125db95bb00a0c333dff87c43756b3931928d2d0adfb59d12ba04d5c57a53848f1fb7d82a52c94929dcbe",
            key: "4d6e432c962043e7c6d52a0bcafa9ce8", zeros: 1),
    ]

    @Test("Both sides have the key of the vector, also for secrets with zeros before them", arguments: vectors)
    func vector(_ vector: Vector) throws {
        let one = try ModularDiffieHellman(.bits1024, privateKey: Self.secret(Self.own))
        let other = try ModularDiffieHellman(.bits1024, privateKey: Self.secret(vector.privateKey))
        #expect(Hexadecimal.text(other.publicKey) == vector.publicKey)
        let shared = try one.sharedSecret(with: other.publicKey)
        #expect(shared.count == 128)
        #expect(shared.withUnsafeBytes { Array($0.prefix { $0 == 0 }).count } == vector.zeros)
        #expect(try other.sharedSecret(with: one.publicKey) == shared)
        for (keys, peer) in [(one, other.publicKey), (other, one.publicKey)] {
            #expect(try SessionCipher.key(keys, with: peer) == Self.secret(vector.key))
        }
        // A public key without its zeros is the same number.
        let short = Array(other.publicKey.drop { $0 == 0 })
        #expect(try one.sharedSecret(with: short) == shared)
    }

    @Test("Secrets of every length around a block are the same after they were encrypted")
    func roundTrip() throws {
        let cipher = SessionCipher.aes(SharedSecret(SecretBytes.random(count: 16)))
        for length in [0, 1, 15, 16, 17, 31, 32, 1000] {
            let secret = SharedSecret(SecretBytes.random(count: length))
            let (parameters, value) = try cipher.encrypt(secret)
            #expect(parameters.count == 16 && value.count == (length / 16 + 1) * 16)
            let sent = TransferredSecret(session: "/", parameters: parameters, value: value, contentType: "")
            #expect(try cipher.decrypt(sent) == secret)
        }
    }

    @Test("A client and a service get the same key from an offer and its answer")
    func offer() throws {
        let offer = try SessionOffer()
        let (service, output) = try SessionCipher.negotiate(SessionCipher.diffieHellmanName, offer.input)
        let client = try offer.cipher(answeredBy: output)
        let secret = SharedSecret(copying: "s3cret".utf8)
        let (parameters, value) = try service.encrypt(secret)
        #expect(value != secret)
        let sent = TransferredSecret(session: "/", parameters: parameters, value: value, contentType: "")
        #expect(try client.decrypt(sent) == secret)
        for output in [BusValue.string(""), .bytes([]), .bytes([1]), .bytes([UInt8](repeating: 0xFF, count: 128))] {
            #expect(throws: BusFailure.self) { try offer.cipher(answeredBy: output) }
        }
    }

    @Test("Weak public keys are refused in both groups", arguments: ModularDiffieHellman.Group.allCases)
    func weakKeys(_ group: ModularDiffieHellman.Group) throws {
        let keys = try ModularDiffieHellman(generatingIn: group)
        #expect(keys.publicKey.count == group.byteCount)
        let all = [UInt8](repeating: 0xFF, count: group.byteCount)
        for weak: [UInt8] in [[], [0], [1], [0, 1], all] {
            #expect(throws: OpenSSLError.self) { try keys.sharedSecret(with: weak) }
        }
    }

    private static func secret(_ digits: String) throws -> SharedSecret {
        SharedSecret(copying: try #require(Hexadecimal.bytes(digits.utf8)))
    }
}
