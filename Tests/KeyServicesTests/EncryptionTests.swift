// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import KeychainModel
import KeychainTesting
@testable import KeyServices
import SecretMemory
import Testing

/// Encryption and key agreement, compared with openssl and with constructions from other libraries.
@Suite("Encryption")
struct EncryptionTests {
    private static let plaintext = Array("a secret".utf8)

    private static func settings(_ encryption: KeyAlgorithm.RSAEncryption) -> [String] {
        switch encryption {
        case .raw: ["rsa_padding_mode:none"]
        case .pkcs1: ["rsa_padding_mode:pkcs1"]
        case .oaep(let hash), .oaepAESGCM(let hash):
            [
                "rsa_padding_mode:oaep", "rsa_oaep_md:\(hash.rawValue.lowercased())",
                "rsa_mgf1_md:\(hash.rawValue.lowercased())",
            ]
        }
    }

    @Test(
        "T231 to T235: RSA: openssl decrypts our ciphertexts, and we decrypt openssl's", .long,
        arguments: [1024, 2048, 3072, 4096, 8192])
    func rsa(_ bits: Int) throws {
        let key = try #require(SampleKeys.rsa.first { $0.kind.bits == bits })
        let openssl = try OpenSSL()
        let length = key.kind.blockLength
        for encryption in [KeyAlgorithm.RSAEncryption.raw, .pkcs1] + HashAlgorithm.allCases.map({ .oaep($0) }) {
            let algorithm = KeyAlgorithm.rsaEncryption(encryption)
            guard algorithm.isSupported(by: key.kind, .publicKey, for: .encrypt) else {
                #expect(bits == 1024 && encryption == .oaep(.sha512))
                #expect(
                    status { () throws(KeychainError) in _ = try key.publicKey.encrypted(Self.plaintext, algorithm) }
                        == -50)
                continue
            }
            let capacity =
                switch encryption {
                case .raw: length
                case .pkcs1: length - 11
                case .oaep(let hash), .oaepAESGCM(let hash): length - 2 * hash.byteCount - 2
                }
            let whole = [0] + [UInt8](repeating: 0x5A, count: max(0, capacity - 1))
            for plaintext in encryption == .raw
                ? [whole] : [Self.plaintext.prefix(capacity) + [], Array(whole.prefix(capacity)), []]
            {
                let own = try key.publicKey.encrypted(plaintext, algorithm)
                #expect(own.count == length)
                #expect(
                    try openssl.decrypt(own, .privateKey(key), Self.settings(encryption)) == plaintext,
                    "\(algorithm.rawValue)")
                let theirs = try openssl.encrypt(plaintext, key.publicKey, Self.settings(encryption))
                #expect(try key.decrypted(theirs, algorithm) == plaintext, "\(algorithm.rawValue)")
            }
            let more = [UInt8](repeating: 1, count: capacity + 1)
            #expect(status { () throws(KeychainError) in _ = try key.publicKey.encrypted(more, algorithm) } == -50)
        }
        // A short number is padded with leading zeros.
        let block = try key.publicKey.encrypted([7], .rsaEncryption(.raw))
        #expect(try key.decrypted(block, .rsaEncryption(.raw)) == [UInt8](repeating: 0, count: length - 1) + [7])
    }

    @Test("Every defect of a block gives the same error")
    func indistinguishable() throws {
        let key = try #require(SampleKeys.rsa2048)
        let length = key.kind.blockLength
        for encryption in [KeyAlgorithm.RSAEncryption.oaep(.sha1), .oaep(.sha256), .oaepAESGCM(.sha256)] {
            let algorithm = KeyAlgorithm.rsaEncryption(encryption)
            let good = try key.publicKey.encrypted(Self.plaintext, algorithm)
            var errors: Set<KeychainError> = []
            var inputs = [
                [], [1], Array(good.dropLast()), good + [0], [UInt8](repeating: 0, count: length),
                [UInt8](repeating: 255, count: length),
            ]
            for index in stride(from: 0, to: good.count, by: 17) {
                var changed = good
                changed[index] ^= 4
                inputs.append(changed)
            }
            // Blocks with another padding, with another hash, and without padding.
            inputs.append(try key.publicKey.encrypted(Self.plaintext, .rsaEncryption(.pkcs1)))
            inputs.append(try key.publicKey.encrypted(Self.plaintext, .rsaEncryption(.oaep(.sha512))))
            inputs.append(try key.publicKey.encrypted([0], .rsaEncryption(.raw)))
            for input in inputs {
                do throws(KeychainError) {
                    _ = try key.decrypted(input, algorithm)
                    Issue.record("the ciphertext was decrypted")
                } catch {
                    errors.insert(error)
                }
            }
            #expect(errors.count == 1 && errors.first?.status == .param, "\(errors)")
        }
    }

    @Test("PKCS #1: a block with wrong padding always gives the same message, similar to a real one")
    func implicitRejection() throws {
        let key = try #require(SampleKeys.rsa2048)
        let algorithm = KeyAlgorithm.rsaEncryption(.pkcs1)
        let length = key.kind.blockLength
        func block(_ head: [UInt8], _ rest: [UInt8]) -> [UInt8] {
            head + [UInt8](repeating: 0xAA, count: length - head.count - rest.count) + rest
        }
        // A valid block, made by hand: eight bytes of padding are enough.
        let shortest = [0, 2] + [UInt8](repeating: 1, count: 8) + [0] + [UInt8](repeating: 7, count: length - 11)
        #expect(
            try key.decrypted(key.publicKey.encrypted(shortest, .rsaEncryption(.raw)), algorithm)
                == [UInt8](repeating: 7, count: length - 11))
        #expect(try key.decrypted(key.publicKey.encrypted(block([0, 2], [0]), .rsaEncryption(.raw)), algorithm) == [])
        var lengths: Set<Int> = []
        for bad in [
            block([0, 1], [0, 1, 2]), block([1, 2], [0, 1, 2]), block([0, 2], []), block([0, 2, 0], [0, 1]),
            block([0, 2, 1, 1, 1, 1, 1, 1, 1, 0], [0, 5]),
            [UInt8](repeating: 0, count: length), block([0, 0], [0, 3]), [0] + [UInt8](repeating: 1, count: length - 1),
        ] {
            let ciphertext = try key.publicKey.encrypted(bad, .rsaEncryption(.raw))
            let message = try key.decrypted(ciphertext, algorithm)
            #expect(message.count <= length - 11)
            #expect(try key.decrypted(ciphertext, algorithm) == message)
            #expect(message.isEmpty || !bad.suffix(message.count).elementsEqual(message))
            lengths.insert(message.count)
        }
        #expect(lengths.count > 2)
        // The length of a block is public, so a wrong one is an error.
        #expect(status { () throws(KeychainError) in _ = try key.decrypted([1, 2, 3], algorithm) } == -50)
    }

    // MARK: Hybrid

    @Test(
        "The RSA hybrid is OAEP of a session key, and AES-GCM with a vector of 16 zeros, bound to the public key",
        arguments: [2048, 4096, 8192])
    func hybrid(_ bits: Int) throws {
        let key = try #require(SampleKeys.rsa.first { $0.kind.bits == bits })
        for hash in HashAlgorithm.allCases {
            let algorithm = KeyAlgorithm.rsaEncryption(.oaepAESGCM(hash))
            let own = try key.publicKey.encrypted(Self.plaintext, algorithm)
            #expect(own.count == bits / 8 + Self.plaintext.count + 16)
            let session = try OpenSSL().decrypt(
                Array(own.prefix(bits / 8)), .privateKey(key), Self.settings(.oaep(hash)))
            #expect(session.count == (bits < 4096 ? 16 : 32))
            let opened = try AES.GCM.open(
                AES.GCM.SealedBox(
                    nonce: AES.GCM.Nonce(data: [UInt8](repeating: 0, count: 16)),
                    ciphertext: own.dropFirst(bits / 8).dropLast(16),
                    tag: own.suffix(16)),
                using: SymmetricKey(data: session), authenticating: key.publicKey.external)
            #expect(Array(opened) == Self.plaintext)
            // The other direction, from the same parts.
            let sealed = try AES.GCM.seal(
                Self.plaintext, using: SymmetricKey(data: session),
                nonce: AES.GCM.Nonce(data: [UInt8](repeating: 0, count: 16)),
                authenticating: key.publicKey.external)
            let theirs =
                try OpenSSL().encrypt(session, key.publicKey, Self.settings(.oaep(hash))) + sealed.ciphertext
                + sealed.tag
            #expect(try key.decrypted(theirs, algorithm) == Self.plaintext)
        }
        let large = [UInt8](repeating: 0xA5, count: 1 << 20)
        let algorithm = KeyAlgorithm.rsaEncryption(.oaepAESGCM(.sha256))
        #expect(try key.decrypted(key.publicKey.encrypted(large, algorithm), algorithm) == large)
        #expect(try key.decrypted(key.publicKey.encrypted([], algorithm), algorithm) == [])
    }

    // MARK: Agreement

    @Test("ECDH gives the same secret as openssl", arguments: [192, 224, 256, 384, 521])
    func ecdh(_ bits: Int) throws {
        let key = try #require(SampleKeys.curves.first { $0.kind.bits == bits })
        let openssl = try OpenSSL()
        let curves = [192: "prime192v1", 224: "secp224r1", 256: "prime256v1", 384: "secp384r1", 521: "secp521r1"]
        let pem = try openssl.output([
            "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(try #require(curves[bits]))",
        ])
        guard case .privateKey(let other) = try #require(KeyFile.read(pem).first) else { return }
        for agreement in KeyAlgorithm.Agreement.allCases {
            let own = try key.exchanged(with: other.publicKey, .ecdh(agreement, derivation: nil)).bytes
            #expect(own.count == (bits + 7) / 8)
            #expect(own == (try openssl.derive(.privateKey(key), other.publicKey)))
            #expect(own == (try other.exchanged(with: key.publicKey, .ecdh(agreement, derivation: nil)).bytes))
            for hash in HashAlgorithm.allCases {
                let parameters = ExchangeParameters(requestedSize: 71, sharedInfo: Array("info".utf8))
                let derived = try key.exchanged(with: other.publicKey, .ecdh(agreement, derivation: hash), parameters)
                    .bytes
                #expect(derived == (try Self.x963(own, Array("info".utf8), hash, 71)))
                let bare = try key.exchanged(
                    with: other.publicKey, .ecdh(agreement, derivation: hash), ExchangeParameters(requestedSize: 32)
                ).bytes
                #expect(bare == (try Self.x963(own, [], hash, 32)))
            }
        }
        let without = KeyAlgorithm.ecdh(.standard, derivation: .sha256)
        #expect(status { () throws(KeychainError) in _ = try key.exchanged(with: other.publicKey, without) } == -50)
        for size in [0, -1, Int.max] {
            #expect(
                status { () throws(KeychainError) in
                    _ = try key.exchanged(with: other.publicKey, without, ExchangeParameters(requestedSize: size))
                } == -50)
        }
        let foreign = try #require(SampleKeys.curves.first { $0.kind.bits != bits })
        #expect(
            status { () throws(KeychainError) in
                _ = try key.exchanged(with: foreign.publicKey, .ecdh(.standard, derivation: nil))
            } == -50)
    }

    @Test("Vectors of PKCS #1: OAEP")
    func vectorsOfOAEP() throws {
        for vector in try Vectors.load().oaep {
            let key = try SoftwareKey.read(der([[0]] + vector.key.map { [UInt8](hexadecimal: $0) }), .rsa)
            let algorithm = KeyAlgorithm.rsaEncryption(.oaep(try #require(HashAlgorithm(rawValue: vector.hash))))
            var ciphertext = [UInt8](hexadecimal: vector.ciphertext)
            #expect(
                try key.decrypted(ciphertext, algorithm) == [UInt8](hexadecimal: vector.message), "\(vector.source)")
            ciphertext[64] ^= 1
            #expect(throws: KeychainError.self) { try key.decrypted(ciphertext, algorithm) }
        }
    }

    @Test("Vectors of NIST: ECDH and X9.63")
    func vectors() throws {
        for vector in try Vectors.load().ecdh {
            let key = try SoftwareKey.read(
                [UInt8](hexadecimal: vector.point) + [UInt8](hexadecimal: vector.scalar), .ellipticCurve)
            let other = try PublicKey.read([UInt8](hexadecimal: vector.otherPoint), .ellipticCurve)
            #expect(
                try key.exchanged(with: other, .ecdh(.cofactor, derivation: nil)).bytes
                    == [UInt8](hexadecimal: vector.agreed))
        }
        for vector in try Vectors.load().x963 {
            let expected = [UInt8](hexadecimal: vector.derived)
            let derived = try X963.derived(
                from: SharedSecret(copying: [UInt8](hexadecimal: vector.secret)),
                info: [UInt8](hexadecimal: vector.info),
                try #require(HashAlgorithm(rawValue: vector.hash)), count: expected.count)
            #expect(derived.bytes == expected)
        }
    }

    /// X9.63 from the hash functions of another library.
    private static func x963(_ secret: [UInt8], _ info: [UInt8], _ hash: HashAlgorithm, _ count: Int) throws -> [UInt8]
    {
        var derived: [UInt8] = []
        var counter: UInt8 = 1
        while derived.count < count {
            derived += try SignatureTests.digest(hash, of: secret + [0, 0, 0, counter] + info)
            counter += 1
        }
        return Array(derived.prefix(count))
    }

    // MARK: ECIES

    @Test(
        "ECIES is an ephemeral point, and AES-GCM under the key that X9.63 derives",
        arguments: [192, 224, 256, 384, 521])
    func ecies(_ bits: Int) throws {
        let key = try #require(SampleKeys.curves.first { $0.kind.bits == bits })
        let pointLength = 1 + 2 * key.kind.blockLength
        let keyLength = bits <= 256 ? 16 : 32
        for case .ecies(let agreement, let hash, let derivesIV) in KeyAlgorithm.all {
            let algorithm = KeyAlgorithm.ecies(agreement, hash, derivesIV: derivesIV)
            let own = try key.publicKey.encrypted(Self.plaintext, algorithm)
            #expect(own.count == pointLength + Self.plaintext.count + 16)
            #expect(try key.decrypted(own, algorithm) == Self.plaintext)
            let point = Array(own.prefix(pointLength))
            let agreed = try OpenSSL().derive(.privateKey(key), PublicKey.read(point, .ellipticCurve))
            let derived = try Self.x963(agreed, point, hash, keyLength + (derivesIV ? 16 : 0))
            let vector = derivesIV ? Array(derived.suffix(16)) : [UInt8](repeating: 0, count: 16)
            let opened = try AES.GCM.open(
                AES.GCM.SealedBox(
                    nonce: AES.GCM.Nonce(data: vector), ciphertext: own.dropFirst(pointLength).dropLast(16),
                    tag: own.suffix(16)),
                using: SymmetricKey(data: derived.prefix(keyLength)))
            #expect(Array(opened) == Self.plaintext, "\(algorithm.rawValue)")
            guard hash == .sha256 else { continue }
            var errors: Set<KeychainError> = []
            for index in Array(stride(from: 0, to: own.count, by: 5)) + [own.count - 1] {
                var changed = own
                changed[index] ^= 1
                do throws(KeychainError) {
                    _ = try key.decrypted(changed, algorithm)
                    Issue.record("the ciphertext was decrypted")
                } catch {
                    errors.insert(error)
                }
            }
            for length in 0..<own.count {
                #expect(
                    status { () throws(KeychainError) in _ = try key.decrypted(Array(own.prefix(length)), algorithm) }
                        == -50)
            }
            #expect(errors.count == 1 && errors.first?.status == .param, "\(errors)")
        }
    }
}
