// SPDX-License-Identifier: Apache-2.0

import CommonCrypto
import Crypto
import Foundation
import Testing

@Suite("CommonDigest")
struct DigestTests {
    /// The messages of the examples of FIPS 180, of one block and of two blocks.
    static let messages = [
        "", "abc", "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
    ]

    @Test(
        "The digests are those of the examples of FIPS 180 and RFC 1321, in one piece and byte by byte",
        arguments: [
            (.md5, messages[0], "d41d8cd98f00b204e9800998ecf8427e"),
            (.md5, messages[1], "900150983cd24fb0d6963f7d28e17f72"),
            (.md5, messages[2], "8215ef0796a20bcaaae116d3876c664a"),
            (.md5, messages[3], "03dd8807a93175fb062dfb55dc7d359c"),
            (.sha1, messages[0], "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            (.sha1, messages[1], "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (.sha1, messages[2], "84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
            (.sha1, messages[3], "a49b2446a02c645bf419f995b67091253a04a259"),
            (.sha224, messages[0], "d14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f"),
            (.sha224, messages[1], "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
            (.sha224, messages[2], "75388b16512776cc5dba5da1fd890150b0c6455cb4f58b1952522525"),
            (.sha224, messages[3], "c97ca9a559850ce97a04a96def6d99a9e0e0e2ab14e6b8df265fc0b3"),
            (.sha256, messages[0], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (.sha256, messages[1], "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (.sha256, messages[2], "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
            (.sha256, messages[3], "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"),
            (
                .sha384, messages[0],
                "38b060a751ac96384cd9327eb1b1e36a21fdb71114be07434c0cc7bf63f6e1da"
                    + "274edebfe76f65fbd51ad2f14898b95b"
            ),
            (
                .sha384, messages[1],
                "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed"
                    + "8086072ba1e7cc2358baeca134c825a7"
            ),
            (
                .sha384, messages[2],
                "3391fdddfc8dc7393707a65b1b4709397cf8b1d162af05abfe8f450de5f36bc6"
                    + "b0455a8520bc4e6f5fe95b1fe3c8452b"
            ),
            (
                .sha384, messages[3],
                "09330c33f71147e83d192fc782cd1b4753111b173b3b05d22fa08086e3b0f712"
                    + "fcc7c71a557e2db966c3e9fa91746039"
            ),
            (
                .sha512, messages[0],
                "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
                    + "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
            ),
            (
                .sha512, messages[1],
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                    + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
            ),
            (
                .sha512, messages[2],
                "204a8fc6dda82f0a0ced7beb8e08a41657c16ef468b228a8279be331a703c335"
                    + "96fd15c13b1b07f9aa1d3bea57789ca031ad85c7a71dd70354ec631238ca3445"
            ),
            (
                .sha512, messages[3],
                "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018"
                    + "501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909"
            ),
        ] as [(Digest, String, String)])
    func comesOut(_ function: Digest, _ message: String, _ expected: String) {
        #expect(hexadecimal(function.digest(Array(message.utf8))) == expected)
        #expect(hexadecimal(function.digest(parts: message.utf8.map { [$0] }).digest) == expected)
    }

    @Test("The digests of one million letters a are those of FIPS 180")
    func million() {
        let message = [[UInt8]](repeating: [UInt8](repeating: 0x61, count: 1_000), count: 1_000)
        #expect(
            hexadecimal(Digest.sha1.digest(parts: message).digest) == "34aa973cd4c4daa4f61eeb2bdbad27316534016f")
        #expect(
            hexadecimal(Digest.sha256.digest(parts: message).digest)
                == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
        #expect(
            hexadecimal(Digest.sha512.digest(parts: message).digest)
                == "e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973eb"
                + "de0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b")
    }

    @Test("Any message in any parts has the same digest as with swift-crypto", arguments: 0..<200)
    func differential(_ length: Int) {
        let message = randomBytes(length < 150 ? length : .random(in: 150...5_000))
        let expected: [Digest: [UInt8]] = [
            .md5: Array(Insecure.MD5.hash(data: message)), .sha1: Array(Insecure.SHA1.hash(data: message)),
            .sha256: Array(SHA256.hash(data: message)), .sha384: Array(SHA384.hash(data: message)),
            .sha512: Array(SHA512.hash(data: message)),
        ]
        for (function, digest) in expected {
            let parts = randomParts(message)
            #expect(function.digest(message) == digest, "\(function) of \(message)")
            #expect(function.digest(parts: parts).digest == digest, "\(function) of \(parts)")
        }
        // swift-crypto has no SHA-224.
        #expect(Digest.sha224.digest(parts: randomParts(message)).digest == Digest.sha224.digest(message))
    }

    @Test("Every function of a context returns 1", arguments: Digest.allCases)
    func results(_ function: Digest) {
        #expect(function.digest(parts: [[1, 2, 3], []]).results == [1])
    }

    @Test("After its end, a context contains nothing of the message")
    func wipedContexts() {
        let message = [UInt8](repeating: 0xA5, count: 100)
        func remains<Context>(
            _ context: Context, _ start: (UnsafeMutablePointer<Context>?) -> Int32,
            _ update: (UnsafeMutablePointer<Context>?, UnsafeRawPointer?, CC_LONG) -> Int32,
            _ finish: (UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Context>?) -> Int32
        ) -> (before: Bool, after: Bool) {
            var context = context
            var digest = [UInt8](repeating: 0, count: 64)
            func containsMessage() -> Bool {
                withUnsafeBytes(of: &context) { bytes in
                    bytes.indices.dropLast(3).contains { bytes[$0..<$0 + 4].allSatisfy { $0 == 0xA5 } }
                }
            }
            _ = (start(&context), update(&context, message, 100))
            let before = containsMessage()
            _ = finish(&digest, &context)
            return (before, containsMessage())
        }
        for (before, after) in [
            remains(CC_SHA256_CTX(), CC_SHA256_Init, CC_SHA256_Update, CC_SHA256_Final),
            remains(CC_SHA512_CTX(), CC_SHA384_Init, CC_SHA384_Update, CC_SHA384_Final),
            remains(CC_SHA512_CTX(), CC_SHA512_Init, CC_SHA512_Update, CC_SHA512_Final),
        ] {
            #expect(before && !after)
        }
    }

    @Test("A copy of a context is an independent context")
    func copies() {
        var one = CC_SHA256_CTX()
        CC_SHA256_Init(&one)
        CC_SHA256_Update(&one, "ab", 2)
        var other = one
        CC_SHA256_Update(&one, "c", 1)
        CC_SHA256_Update(&other, "d", 1)
        var digests = [[UInt8]](repeating: [UInt8](repeating: 0, count: Int(CC_SHA256_DIGEST_LENGTH)), count: 2)
        CC_SHA256_Final(&digests[0], &one)
        CC_SHA256_Final(&digests[1], &other)
        #expect(digests == [Digest.sha256.digest(Array("abc".utf8)), Digest.sha256.digest(Array("abd".utf8))])
    }

    @Test("A context can be in memory with any content; before initialization it gives some digest without a fault")
    func anyMemory() {
        for _ in 0..<100 {
            let context = UnsafeMutablePointer<CC_SHA512_CTX>.allocate(capacity: 1)
            defer { context.deallocate() }
            let memory = UnsafeMutableRawBufferPointer(start: context, count: MemoryLayout<CC_SHA512_CTX>.size)
            memory.copyBytes(from: randomBytes(memory.count))
            var digest = [UInt8](repeating: 0, count: 64)
            CC_SHA512_Update(context, randomBytes(300), 300)
            CC_SHA512_Final(&digest, context)
            CC_SHA384_Final(&digest, context)

            CC_SHA512_Init(context)
            CC_SHA512_Update(context, "abc", 3)
            CC_SHA512_Final(&digest, context)
            #expect(digest == Digest.sha512.digest(Array("abc".utf8)))
        }
    }

    @Test("A null message of length 0 has the digest of an empty message", arguments: Digest.allCases)
    func nullMessage(_ function: Digest) {
        var digest = [UInt8](repeating: 0, count: function.length)
        #expect(function.write(nil, 0, &digest))
        #expect(digest == function.digest([]))
    }

    @Test("Null arguments return nil and write nothing", arguments: Digest.allCases)
    func nullArguments(_ function: Digest) {
        var digest = [UInt8](repeating: 7, count: function.length)
        #expect(!function.write(nil, 3, &digest))
        #expect(!function.write("abc", 3, nil))
        #expect(digest == [UInt8](repeating: 7, count: function.length))
    }

    @Test("Null arguments to the functions of a context return 0 and change nothing")
    func nullContexts() {
        var context = CC_SHA256_CTX()
        var digest = [UInt8](repeating: 0, count: 32)
        #expect(CC_SHA256_Init(nil) == 0)
        #expect(CC_SHA256_Update(nil, "abc", 3) == 0)
        #expect(CC_SHA256_Final(&digest, nil) == 0)
        CC_SHA256_Init(&context)
        #expect(CC_SHA256_Update(&context, nil, 3) == 0)
        #expect(CC_SHA256_Update(&context, nil, 0) == 1)
        #expect(CC_SHA256_Final(nil, &context) == 0)
        CC_SHA256_Update(&context, "abc", 3)
        CC_SHA256_Final(&digest, &context)
        #expect(digest == Digest.sha256.digest(Array("abc".utf8)))
    }

    @Test("Lengths and block sizes have Apple's types, so that arithmetic on them compiles")
    func constants() {
        let lengths: [Int32] = [
            CC_MD5_DIGEST_LENGTH, CC_SHA1_DIGEST_LENGTH, CC_SHA224_DIGEST_LENGTH, CC_SHA256_DIGEST_LENGTH,
            CC_SHA384_DIGEST_LENGTH, CC_SHA512_DIGEST_LENGTH,
        ]
        #expect(lengths == [16, 20, 28, 32, 48, 64])
        let blocks: [Int32] = [
            CC_MD5_BLOCK_BYTES, CC_SHA1_BLOCK_BYTES, CC_SHA224_BLOCK_BYTES, CC_SHA256_BLOCK_BYTES,
            CC_SHA384_BLOCK_BYTES,
            CC_SHA512_BLOCK_BYTES,
        ]
        #expect(blocks == [64, 64, 64, 64, 128, 128])
    }
}
