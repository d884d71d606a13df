// SPDX-License-Identifier: Apache-2.0

import CommonCrypto
import Crypto
import Foundation
import Testing

@Suite("CommonHMAC")
struct HMACTests {
    /// A test case of RFC 4231.
    struct Vector: Sendable, CustomTestStringConvertible {
        let number: Int
        let function: Digest
        let code: String

        init(_ number: Int, _ function: Digest, _ code: String) {
            self.number = number
            self.function = function
            self.code = code
        }

        var testDescription: String { "case \(number), \(function)" }

        var key: [UInt8] {
            switch number {
            case 1: [UInt8](repeating: 0x0b, count: 20)
            case 2: Array("Jefe".utf8)
            case 3: [UInt8](repeating: 0xaa, count: 20)
            case 4: Array(1...25)
            default: [UInt8](repeating: 0xaa, count: 131)
            }
        }

        var message: [UInt8] {
            switch number {
            case 1: Array("Hi There".utf8)
            case 2: Array("what do ya want for nothing?".utf8)
            case 3: [UInt8](repeating: 0xdd, count: 50)
            case 4: [UInt8](repeating: 0xcd, count: 50)
            case 6: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8)
            default:
                Array(
                    ("This is a test using a larger than block-size key and a larger than block-size data. "
                        + "The key needs to be hashed before being used by the HMAC algorithm.").utf8)
            }
        }
    }

    @Test(
        "The codes are those of the test cases of RFC 4231, in one piece and in parts",
        arguments: [
            Vector(
                1, .sha224,
                "896fb1128abbdf196832107cd49df33f47b4b1169912ba4f53684b22"),
            Vector(
                1, .sha256,
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
            Vector(
                1, .sha384,
                "afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59c"
                    + "faea9ea9076ede7f4af152e8b2fa9cb6"),
            Vector(
                1, .sha512,
                "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde"
                    + "daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854"),
            Vector(
                2, .sha224,
                "a30e01098bc6dbbf45690f3a7e9e6d0f8bbea2a39e6148008fd05e44"),
            Vector(
                2, .sha256,
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
            Vector(
                2, .sha384,
                "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e"
                    + "8e2240ca5e69e2c78b3239ecfab21649"),
            Vector(
                2, .sha512,
                "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
                    + "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"),
            Vector(
                3, .sha224,
                "7fb3cb3588c6c1f6ffa9694d7d6ad2649365b0c1f65d69d1ec8333ea"),
            Vector(
                3, .sha256,
                "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
            Vector(
                3, .sha384,
                "88062608d3e6ad8a0aa2ace014c8a86f0aa635d947ac9febe83ef4e55966144b"
                    + "2a5ab39dc13814b94e3ab6e101a34f27"),
            Vector(
                3, .sha512,
                "fa73b0089d56a284efb0f0756c890be9b1b5dbdd8ee81a3655f83e33b2279d39"
                    + "bf3e848279a722c806b485a47e67c807b946a337bee8942674278859e13292fb"),
            Vector(
                4, .sha224,
                "6c11506874013cac6a2abc1bb382627cec6a90d86efc012de7afec5a"),
            Vector(
                4, .sha256,
                "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
            Vector(
                4, .sha384,
                "3e8a69b7783c25851933ab6290af6ca77a9981480850009cc5577c6e1f573b4e"
                    + "6801dd23c4a7d679ccf8a386c674cffb"),
            Vector(
                4, .sha512,
                "b0ba465637458c6990e5a8c5f61d4af7e576d97ff94b872de76f8050361ee3db"
                    + "a91ca5c11aa25eb4d679275cc5788063a5f19741120c4f2de2adebeb10a298dd"),
            Vector(
                6, .sha224,
                "95e9a0db962095adaebe9b2d6f0dbce2d499f112f2d2b7273fa6870e"),
            Vector(
                6, .sha256,
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
            Vector(
                6, .sha384,
                "4ece084485813e9088d2c63a041bc5b44f9ef1012a2b588f3cd11f05033ac4c6"
                    + "0c2ef6ab4030fe8296248df163f44952"),
            Vector(
                6, .sha512,
                "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352"
                    + "6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598"),
            Vector(
                7, .sha224,
                "3a854166ac5d9f023f54d517d0b39dbd946770db9c2b95c9f6f565d1"),
            Vector(
                7, .sha256,
                "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
            Vector(
                7, .sha384,
                "6617178e941f020d351e2f254e8fd32c602420feb0b8fb9adccebb82461e99c5"
                    + "a678cc31e799176d3860e6110c46523e"),
            Vector(
                7, .sha512,
                "e37b6a775dc87dbaa4dfa9f96e5e3ffddebd71f8867289865df5a32d20cdc944"
                    + "b6022cac3c4982b10d5eeb55c3e4de15134676fb6de0446065c97440fa8c6a58"),
        ])
    func rfc4231(_ vector: Vector) {
        #expect(hexadecimal(code(vector.function, vector.key, [vector.message])) == vector.code)
        #expect(hexadecimal(code(vector.function, vector.key, randomParts(vector.message))) == vector.code)
        var code = [UInt8](repeating: 0, count: vector.function.length)
        CCHmac(algorithm(vector.function), vector.key, vector.key.count, vector.message, vector.message.count, &code)
        #expect(hexadecimal(code) == vector.code)
    }

    @Test("The codes for MD5 and SHA-1 are those of the second test case of RFC 2202")
    func rfc2202() {
        let message = Array("what do ya want for nothing?".utf8)
        #expect(hexadecimal(code(.md5, Array("Jefe".utf8), [message])) == "750c783e6ab0b503eaa86e310a5db738")
        #expect(hexadecimal(code(.sha1, Array("Jefe".utf8), [message])) == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79")
    }

    @Test("Any key and message give the same code as with swift-crypto, also around the block size", arguments: 0..<260)
    func differential(_ keyLength: Int) {
        let key = randomBytes(keyLength)
        let message = randomBytes(.random(in: 0...1_000))
        let symmetric = SymmetricKey(data: key)
        let expected: [Digest: [UInt8]] = [
            .md5: Array(HMAC<Insecure.MD5>.authenticationCode(for: message, using: symmetric)),
            .sha1: Array(HMAC<Insecure.SHA1>.authenticationCode(for: message, using: symmetric)),
            .sha256: Array(HMAC<SHA256>.authenticationCode(for: message, using: symmetric)),
            .sha384: Array(HMAC<SHA384>.authenticationCode(for: message, using: symmetric)),
            .sha512: Array(HMAC<SHA512>.authenticationCode(for: message, using: symmetric)),
        ]
        for (function, expected) in expected {
            #expect(code(function, key, randomParts(message)) == expected, "\(function) of \(message) under \(key)")
        }
    }

    @Test("A copy of a context is an independent context")
    func copies() {
        var one = CCHmacContext()
        CCHmacInit(&one, CCHmacAlgorithm(kCCHmacAlgSHA256), "key", 3)
        var other = one
        CCHmacUpdate(&one, "abc", 3)
        CCHmacUpdate(&other, "abd", 3)
        var codes = [[UInt8]](repeating: [UInt8](repeating: 0, count: 32), count: 2)
        CCHmacFinal(&one, &codes[0])
        CCHmacFinal(&other, &codes[1])
        let key = Array("key".utf8)
        #expect(codes == ["abc", "abd"].map { code(.sha256, key, [Array($0.utf8)]) })
    }

    @Test("The end of a message wipes the context with the key")
    func wiped() {
        var context = CCHmacContext()
        CCHmacInit(&context, CCHmacAlgorithm(kCCHmacAlgSHA256), "key", 3)
        #expect(withUnsafeBytes(of: context) { $0.contains { $0 != 0 } })
        var code = [UInt8](repeating: 0, count: 32)
        CCHmacFinal(&context, &code)
        #expect(withUnsafeBytes(of: context) { $0.allSatisfy { $0 == 0 } })
    }

    @Test("An uninitialized context writes no code and causes no fault, with any memory content")
    func anyMemory() {
        for count in [400, MemoryLayout<CCHmacContext>.size] {
            for _ in 0..<50 {
                var context = CCHmacContext()
                // The states of the hash function are stored first, followed by its number.
                CCHmacInit(&context, CCHmacAlgorithm(kCCHmacAlgSHA512), "key", 3)
                withUnsafeMutableBytes(of: &context) { $0.copyBytes(from: randomBytes(count)) }
                var code = [UInt8](repeating: 0, count: 64)
                CCHmacUpdate(&context, randomBytes(300), 300)
                CCHmacFinal(&context, &code)
            }
        }
        var context = CCHmacContext()
        var code = [UInt8](repeating: 7, count: 64)
        CCHmacUpdate(&context, "abc", 3)
        CCHmacFinal(&context, &code)
        #expect(code == [UInt8](repeating: 7, count: 64))
    }

    @Test(
        "Invalid arguments give no code",
        arguments: ["algorithm", "key length", "null key", "length", "null message"])
    func badArguments(_ kind: String) {
        var code = [UInt8](repeating: 7, count: 64)
        Array("abc".utf8).withUnsafeBytes { bytes in
            CCHmac(
                CCHmacAlgorithm(kind == "algorithm" ? 6 : kCCHmacAlgSHA256),
                kind == "null key" ? nil : bytes.baseAddress,
                kind == "key length" ? -1 : 3, kind == "null message" ? nil : bytes.baseAddress,
                kind == "length" ? .min : 3, &code)
        }
        #expect(code == [UInt8](repeating: 7, count: 64))
    }

    @Test("A null key or message of length 0 is empty; null contexts and outputs are ignored")
    func nullArguments() {
        var code = [UInt8](repeating: 0, count: 32)
        CCHmac(CCHmacAlgorithm(kCCHmacAlgSHA256), nil, 0, nil, 0, &code)
        #expect(code == Array(HMAC<SHA256>.authenticationCode(for: Data(), using: SymmetricKey(data: Data()))))
        CCHmac(CCHmacAlgorithm(kCCHmacAlgSHA256), "key", 3, "abc", 3, nil)
        CCHmacInit(nil, CCHmacAlgorithm(kCCHmacAlgSHA256), "key", 3)
        CCHmacUpdate(nil, "abc", 3)
        CCHmacFinal(nil, &code)
    }

    private func code(_ function: Digest, _ key: [UInt8], _ parts: [[UInt8]]) -> [UInt8] {
        var context = CCHmacContext()
        var code = [UInt8](repeating: 0, count: function.length)
        CCHmacInit(&context, algorithm(function), key, key.count)
        for part in parts { CCHmacUpdate(&context, part, part.count) }
        CCHmacFinal(&context, &code)
        return code
    }

    private func algorithm(_ function: Digest) -> CCHmacAlgorithm {
        let constant =
            switch function {
            case .md5: kCCHmacAlgMD5
            case .sha1: kCCHmacAlgSHA1
            case .sha224: kCCHmacAlgSHA224
            case .sha256: kCCHmacAlgSHA256
            case .sha384: kCCHmacAlgSHA384
            case .sha512: kCCHmacAlgSHA512
            }
        return CCHmacAlgorithm(constant)
    }
}
