// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import KeychainModel
import KeychainTesting
@testable import KeyServices
import SecretMemory
import Testing

/// Signatures that are made here and verified by openssl, and vice versa.
@Suite("Signatures")
struct SignatureTests {
    private static let message = Array("a message that is signed".utf8)

    static func digest(_ hash: HashAlgorithm, of message: [UInt8]) throws -> [UInt8] {
        switch hash {
        case .sha1: Array(Insecure.SHA1.hash(data: message))
        case .sha256: Array(SHA256.hash(data: message))
        case .sha384: Array(SHA384.hash(data: message))
        case .sha512: Array(SHA512.hash(data: message))
        // Crypto has no SHA-224.
        case .sha224: try OpenSSL().digest("sha224", of: message)
        }
    }

    @Test(
        "T236, T237: RSA: openssl accepts our signatures, and we accept openssl's", .long,
        arguments: [1024, 2048, 3072, 4096, 8192])
    func rsa(_ bits: Int) throws {
        let key = try #require(SampleKeys.rsa.first { $0.kind.bits == bits })
        let openssl = try OpenSSL()
        var pairs: [(digest: KeyAlgorithm, message: KeyAlgorithm?, input: [UInt8], settings: [String])] = []
        for hash in HashAlgorithm.allCases {
            let digest = try Self.digest(hash, of: Self.message)
            let name = hash.rawValue.lowercased()
            pairs.append(
                (
                    .rsaSignature(.pkcs1(.digest(hash))), .rsaSignature(.pkcs1(.message(hash))), digest,
                    ["digest:\(name)"]
                ))
            let pss = KeyAlgorithm.rsaSignature(.pss(.digest(hash)))
            guard pss.isSupported(by: key.kind, .privateKey, for: .sign) else {
                #expect(bits == 1024 && hash == .sha512)
                #expect(status { () throws(KeychainError) in _ = try key.signature(of: digest, pss) } == -50)
                continue
            }
            pairs.append(
                (
                    pss, .rsaSignature(.pss(.message(hash))), digest,
                    ["digest:\(name)", "rsa_padding_mode:pss", "rsa_pss_saltlen:digest", "rsa_mgf1_md:\(name)"]
                ))
        }
        pairs.append((.rsaSignature(.pkcs1(.digest(nil))), nil, Array("any bytes".utf8), ["rsa_padding_mode:pkcs1"]))
        // pkeyutl cannot sign raw blocks; its decryption of a raw block is the same operation.
        let block = [0] + [UInt8](repeating: 0x5A, count: key.kind.blockLength - 1)
        let raw = try key.signature(of: block, .rsaSignature(.raw))
        #expect(try openssl.decrypt(block, .privateKey(key), ["rsa_padding_mode:none"]) == raw)
        #expect(try key.publicKey.isSignature(raw, of: block, .rsaSignature(.raw)))
        #expect(try !key.publicKey.isSignature(block, of: block, .rsaSignature(.raw)))
        for (algorithm, message, input, settings) in pairs {
            let own = try key.signature(of: input, algorithm)
            #expect(try openssl.verifies(own, of: input, key.publicKey, settings), "\(algorithm.rawValue)")
            let theirs = try openssl.sign(input, .privateKey(key), settings)
            #expect(try key.publicKey.isSignature(theirs, of: input, algorithm), "\(algorithm.rawValue)")
            // The algorithm for the message gives the same signatures as the one for the digest.
            if let message {
                #expect(try key.publicKey.isSignature(theirs, of: Self.message, message), "\(message.rawValue)")
                #expect(
                    try key.publicKey.isSignature(key.signature(of: Self.message, message), of: input, algorithm),
                    "\(message.rawValue)")
            }
            var changed = theirs
            changed[changed.count / 2] ^= 1
            #expect(try !key.publicKey.isSignature(changed, of: input, algorithm), "\(algorithm.rawValue)")
            #expect(try !key.publicKey.isSignature(Array(theirs.dropLast()), of: input, algorithm))
            #expect(try !key.publicKey.isSignature(theirs + [0], of: input, algorithm))
            #expect(try !key.publicKey.isSignature([], of: input, algorithm))
        }
    }

    @Test(
        "T240: ECDSA: openssl accepts our signatures, and we accept openssl's, in both forms",
        arguments: [192, 224, 256, 384, 521])
    func ecdsa(_ bits: Int) throws {
        let key = try #require(SampleKeys.curves.first { $0.kind.bits == bits })
        let openssl = try OpenSSL()
        for hash in HashAlgorithm.allCases {
            let digest = try Self.digest(hash, of: Self.message)
            let der = try key.signature(of: digest, .ecdsa(.x962, .digest(hash)))
            #expect(try openssl.verifies(der, of: digest, key.publicKey, []))
            let theirs = try openssl.sign(digest, .privateKey(key), [])
            for input in [KeyAlgorithm.SignedInput.digest(hash), .digest(nil)] {
                #expect(try key.publicKey.isSignature(theirs, of: digest, .ecdsa(.x962, input)))
            }
            #expect(try key.publicKey.isSignature(theirs, of: Self.message, .ecdsa(.x962, .message(hash))))
            let plain = try key.signature(of: Self.message, .ecdsa(.rfc4754, .message(hash)))
            #expect(plain.count == 2 * key.kind.blockLength)
            #expect(try key.publicKey.isSignature(plain, of: digest, .ecdsa(.rfc4754, .digest(hash))))
            #expect(try key.publicKey.isSignature(plain, of: digest, .ecdsa(.rfc4754, .digest(nil))))
            #expect(try !key.publicKey.isSignature(plain, of: digest, .ecdsa(.x962, .digest(hash))))
            #expect(
                try !key.publicKey.isSignature(Array(plain.dropLast()), of: digest, .ecdsa(.rfc4754, .digest(hash))))
            #expect(try !key.publicKey.isSignature([0] + plain, of: digest, .ecdsa(.rfc4754, .digest(hash))))
        }
    }

    @Test("openssl dgst accepts our signatures of messages", arguments: HashAlgorithm.allCases)
    func dgst(_ hash: HashAlgorithm) throws {
        let openssl = try OpenSSL()
        let message = try openssl.file(Self.message)
        for key in [SampleKeys.rsa2048, SampleKeys.p256, SampleKeys.p521].compactMap({ $0 }) {
            let isRSA = key.kind.type == .rsa
            let kinds: [(KeyAlgorithm, [String])] =
                isRSA
                ? [
                    (.rsaSignature(.pkcs1(.message(hash))), []),
                    (
                        .rsaSignature(.pss(.message(hash))),
                        ["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:digest"]
                    ),
                ] : [(.ecdsa(.x962, .message(hash)), [])]
            for (algorithm, options) in kinds {
                let signature = try openssl.file(key.signature(of: Self.message, algorithm))
                let verdict = try openssl.output(
                    [
                        "dgst", "-\(hash.rawValue.lowercased())", "-verify", openssl.file(.publicKey(key.publicKey)),
                        "-signature", signature,
                    ]
                        + options + [message])
                #expect(String(decoding: verdict, as: UTF8.self) == "Verified OK\n")
            }
        }
    }

    @Test("A digest of the wrong length is errSecParam")
    func lengths() throws {
        let rsa = try #require(SampleKeys.rsa2048)
        let curve = try #require(SampleKeys.p256)
        for length in [0, 19, 31, 33, 64] {
            let digest = [UInt8](repeating: 1, count: length)
            for (key, algorithm) in [
                (rsa, KeyAlgorithm.rsaSignature(.pkcs1(.digest(.sha256)))),
                (rsa, .rsaSignature(.pss(.digest(.sha256)))),
                (curve, .ecdsa(.x962, .digest(.sha256))), (curve, .ecdsa(.rfc4754, .digest(.sha256))),
            ] {
                #expect(status { () throws(KeychainError) in _ = try key.signature(of: digest, algorithm) } == -50)
                #expect(
                    status { () throws(KeychainError) in
                        _ = try key.publicKey.isSignature([1, 2], of: digest, algorithm)
                    } == -50)
            }
        }
        // Without a hash, the bytes must leave room for the padding; a raw block must be less than
        // the modulus.
        let length = rsa.kind.blockLength
        #expect(
            status { () throws(KeychainError) in
                _ = try rsa.signature(of: .init(repeating: 1, count: length - 11), .rsaSignature(.pkcs1(.digest(nil))))
            } == 0)
        #expect(
            status { () throws(KeychainError) in
                _ = try rsa.signature(of: .init(repeating: 1, count: length - 10), .rsaSignature(.pkcs1(.digest(nil))))
            } == -50)
        #expect(
            status { () throws(KeychainError) in
                _ = try rsa.signature(of: .init(repeating: 255, count: length), .rsaSignature(.raw))
            } == -50
        )
        #expect(
            status { () throws(KeychainError) in
                _ = try rsa.signature(of: .init(repeating: 1, count: length + 1), .rsaSignature(.raw))
            }
                == -50)
    }

    @Test(
        "Hostile ECDSA signatures are refused: numbers of 0, of the order, negative, too long; BER; extra bytes",
        arguments: [256, 384, 521])
    func hostileECDSA(_ bits: Int) throws {
        let key = try #require(SampleKeys.curves.first { $0.kind.bits == bits })
        let digest = try Self.digest(.sha256, of: Self.message)
        let good = try key.signature(of: digest, .ecdsa(.x962, .digest(.sha256)))
        let plain = try key.signature(of: digest, .ecdsa(.rfc4754, .digest(.sha256)))
        let (r, s) = (Array(plain.prefix(plain.count / 2)), Array(plain.suffix(plain.count / 2)))
        func sequence(_ content: [UInt8]) -> [UInt8] {
            [0x30] + (content.count < 128 ? [UInt8(content.count)] : [0x81, UInt8(content.count)]) + content
        }
        func integer(_ bytes: [UInt8]) -> [UInt8] {
            let trimmed = Array(bytes.drop { $0 == 0 })
            let body = trimmed.isEmpty ? [0] : (trimmed[0] >= 0x80 ? [0] + trimmed : trimmed)
            return [0x02, UInt8(body.count)] + body
        }
        #expect(
            try key.publicKey.isSignature(
                sequence(integer(r) + integer(s)), of: digest, .ecdsa(.x962, .digest(.sha256))))
        let zero: [UInt8] = [0x02, 1, 0]
        let one: [UInt8] = [0x02, 1, 1]
        let large = [0x02, UInt8(r.count + 1)] + [0x7F] + [UInt8](repeating: 0xFF, count: r.count)
        let negative = [0x02, UInt8(r.count)] + [0xFF] + r.dropFirst()
        let hostile: [[UInt8]] = [
            sequence(zero + zero), sequence(zero + integer(s)), sequence(integer(r) + zero), sequence(one + one),
            sequence(large + integer(s)),
            sequence(integer(r) + large), sequence(negative + integer(s)), sequence(integer(s) + integer(r)),
            sequence(integer(r)),
            sequence(integer(r) + integer(s) + zero), good + [0], [0x30, 0x80] + integer(r) + integer(s) + [0, 0],
            [0x30, 0x82, 0, UInt8((integer(r) + integer(s)).count)] + integer(r) + integer(s),
            sequence([0x02, UInt8(r.count + 2), 0, 0] + r + integer(s)), [0x31] + good.dropFirst(), [], [0x30],
            [0x30, 0],
            sequence([0x02, 0] + integer(s)), [UInt8](repeating: 0, count: good.count),
            [UInt8](repeating: 0xFF, count: good.count),
        ]
        for (index, signature) in hostile.enumerated() {
            #expect(try !key.publicKey.isSignature(signature, of: digest, .ecdsa(.x962, .digest(.sha256))), "\(index)")
        }
        for plain in [[UInt8](repeating: 0, count: plain.count), [UInt8](repeating: 0xFF, count: plain.count), s + r] {
            #expect(try !key.publicKey.isSignature(plain, of: digest, .ecdsa(.rfc4754, .digest(.sha256))))
        }
    }

    @Test("RSA signatures with another padding, salt or hash are refused")
    func hostileRSA() throws {
        let key = try #require(SampleKeys.rsa2048)
        let openssl = try OpenSSL()
        let digest = try Self.digest(.sha256, of: Self.message)
        let pss = KeyAlgorithm.rsaSignature(.pss(.digest(.sha256)))
        for setting in [
            ["rsa_pss_saltlen:0"], ["rsa_pss_saltlen:20"], ["rsa_pss_saltlen:max"],
            ["rsa_pss_saltlen:digest", "rsa_mgf1_md:sha1"],
        ] {
            let signature = try openssl.sign(
                digest, .privateKey(key), ["digest:sha256", "rsa_padding_mode:pss"] + setting)
            #expect(try !key.publicKey.isSignature(signature, of: digest, pss), "\(setting)")
        }
        // A block that is made by hand, and signed as a raw block.
        let info = [UInt8](hexadecimal: "3031300d060960864801650304020105000420") + digest
        func block(_ filler: [UInt8], _ rest: [UInt8]) -> [UInt8] {
            let free = key.kind.blockLength - filler.count - rest.count - 1
            return filler + [UInt8](repeating: 0xFF, count: free) + [0] + rest
        }
        let pkcs1 = KeyAlgorithm.rsaSignature(.pkcs1(.digest(.sha256)))
        func verdict(_ block: [UInt8]) throws -> Bool {
            try key.publicKey.isSignature(key.signature(of: block, .rsaSignature(.raw)), of: digest, pkcs1)
        }
        #expect(try verdict(block([0, 1], info)))
        #expect(try !verdict(block([0, 2], info)))
        #expect(try !verdict(block([0, 0], info)))
        #expect(
            try !verdict(
                [0, 1, 0xFF, 0xFF, 0] + info + [UInt8](repeating: 0, count: key.kind.blockLength - 5 - info.count)))
        #expect(try !verdict([0, 1, 0] + info + [UInt8](repeating: 1, count: key.kind.blockLength - 3 - info.count)))
        #expect(try !verdict(block([0, 1], info + [0])))
        // Without the NULL parameters, with a length that is not minimal, and with the identifier
        // of another hash.
        #expect(try !verdict(block([0, 1], [UInt8](hexadecimal: "302f300b0609608648016503040201 0420") + digest)))
        #expect(try !verdict(block([0, 1], [UInt8](hexadecimal: "308131300d060960864801650304020105000420") + digest)))
        #expect(try !verdict(block([0, 1], [UInt8](hexadecimal: "3031300d060960864801650304020205000420") + digest)))
        var garbled = block([0, 1], info)
        garbled[10] = 0xFE
        #expect(try !verdict(garbled))
    }

    @Test("Vectors of PKCS #1: a PSS signature verifies, and does not with one changed bit")
    func vectorsOfPSS() throws {
        for vector in try Vectors.load().pss {
            let key = try PublicKey.read(der([[UInt8](hexadecimal: vector.modulus), [1, 0, 1]]), .rsa)
            let algorithm = KeyAlgorithm.rsaSignature(
                .pss(.message(try #require(HashAlgorithm(rawValue: vector.hash)))))
            let message = [UInt8](hexadecimal: vector.message)
            var signature = [UInt8](hexadecimal: vector.signature)
            #expect(try key.isSignature(signature, of: message, algorithm), "\(vector.source)")
            #expect(try !key.isSignature(signature, of: message + [0], algorithm))
            signature[64] ^= 1
            #expect(try !key.isSignature(signature, of: message, algorithm))
        }
    }

    @Test("Vectors of RFC 6979: signatures verify, and do not with one changed bit")
    func vectors() throws {
        for vector in try Vectors.load().ecdsa {
            let point = [4] + [UInt8](hexadecimal: vector.x) + [UInt8](hexadecimal: vector.y)
            let key = try PublicKey.read(point, .ellipticCurve)
            let hash = try #require(HashAlgorithm(rawValue: vector.hash))
            let signature = [UInt8](hexadecimal: vector.r) + [UInt8](hexadecimal: vector.s)
            let message = Array(vector.message.utf8)
            #expect(try key.isSignature(signature, of: message, .ecdsa(.rfc4754, .message(hash))), "\(vector.source)")
            for index in stride(from: 0, to: signature.count, by: 7) {
                var changed = signature
                changed[index] ^= 0x10
                #expect(try !key.isSignature(changed, of: message, .ecdsa(.rfc4754, .message(hash))))
            }
        }
    }
}

extension OpenSSL {
    func digest(_ name: String, of message: [UInt8]) throws -> [UInt8] {
        try output(["dgst", "-\(name)", "-binary", file(message)])
    }
}

/// The known answers in Tests/Vectors.
struct Vectors: Decodable {
    struct ECDSA: Decodable {
        var source, hash, message, x, y, r, s: String
    }
    struct ECDH: Decodable {
        var source, scalar, point, otherPoint, agreed: String
    }
    struct KDF: Decodable {
        var source, hash, secret, info, derived: String
    }
    struct OAEP: Decodable {
        /// n, e, d, p, q, d mod p−1, d mod q−1, q⁻¹ mod p.
        var key: [String]
        var source, hash, message, ciphertext: String
    }
    struct PSS: Decodable {
        var source, hash, modulus, message, signature: String
    }
    var ecdsa: [ECDSA]
    var oaep: [OAEP]
    var pss: [PSS]
    var ecdh: [ECDH]
    var x963: [KDF]

    static func load() throws -> Vectors {
        try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: file("keys.json")))
    }

    static func file(_ name: String) -> URL {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Vectors/\(name)")
    }
}

/// A `SEQUENCE` of numbers.
func der(_ numbers: [[UInt8]]) -> [UInt8] {
    let joined = numbers.flatMap { $0 }
    return joined.withUnsafeBytes { bytes in
        var start = 0
        let slices = numbers.map { number in
            defer { start += number.count }
            return UnsafeRawBufferPointer(rebasing: bytes[start..<start + number.count])
        }
        return DERNumbers.encoded(slices).withUnsafeBytes { Array($0) }
    }
}
