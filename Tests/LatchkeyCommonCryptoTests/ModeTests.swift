// SPDX-License-Identifier: Apache-2.0

import CommonCrypto
import Testing

/// The examples of NIST SP 800-38A, appendix F.
@Suite("Modes of AES")
struct ModeTests {
    static let plaintext = bytes(
        "6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51"
            + "30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710")

    static let keys = [
        16: bytes("2b7e151628aed2a6abf7158809cf4f3c"), 24: bytes("8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b"),
        32: bytes("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"),
    ]

    static let iv = bytes("000102030405060708090a0b0c0d0e0f")
    static let counter = bytes("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")

    struct Example: Sendable, CustomTestStringConvertible {
        let mode: Int
        let keyCount: Int
        let ciphertext: [UInt8]

        init(_ mode: Int, _ keyCount: Int, _ ciphertext: String) {
            self.mode = mode
            self.keyCount = keyCount
            self.ciphertext = bytes(ciphertext)
        }

        var key: [UInt8] { ModeTests.keys[keyCount] ?? [] }
        var iv: [UInt8] { mode == kCCModeCTR ? ModeTests.counter : ModeTests.iv }
        var testDescription: String { "mode \(mode), \(keyCount * 8) bits" }
    }

    static let examples = [
        Example(
            kCCModeECB, 16,
            "3ad77bb40d7a3660a89ecaf32466ef97 f5d3d58503b9699de785895a96fdbaaf"
                + "43b1cd7f598ece23881b00e3ed030688 7b0c785e27e8ad3f8223207104725dd4"),
        Example(
            kCCModeECB, 24,
            "bd334f1d6e45f25ff712a214571fa5cc 974104846d0ad3ad7734ecb3ecee4eef"
                + "ef7afd2270e2e60adce0ba2face6444e 9a4b41ba738d6c72fb16691603c18e0e"),
        Example(
            kCCModeECB, 32,
            "f3eed1bdb5d2a03c064b5a7e3db181f8 591ccb10d410ed26dc5ba74a31362870"
                + "b6ed21b99ca6f4f9f153e7b1beafed1d 23304b7a39f9f3ff067d8d8f9e24ecc7"),
        Example(
            kCCModeCBC, 16,
            "7649abac8119b246cee98e9b12e9197d 5086cb9b507219ee95db113a917678b2"
                + "73bed6b8e3c1743b7116e69e22229516 3ff1caa1681fac09120eca307586e1a7"),
        Example(
            kCCModeCBC, 24,
            "4f021db243bc633d7178183a9fa071e8 b4d9ada9ad7dedf4e5e738763f69145a"
                + "571b242012fb7ae07fa9baac3df102e0 08b0e27988598881d920a9e64f5615cd"),
        Example(
            kCCModeCBC, 32,
            "f58c4c04d6e5f1ba779eabfb5f7bfbd6 9cfc4e967edb808d679f777bc6702c7d"
                + "39f23369a9d9bacfa530e26304231461 b2eb05e2c39be9fcda6c19078c6a9d1b"),
        Example(
            kCCModeCFB, 16,
            "3b3fd92eb72dad20333449f8e83cfb4a c8a64537a0b3a93fcde3cdad9f1ce58b"
                + "26751f67a3cbb140b1808cf187a4f4df c04b05357c5d1c0eeac4c66f9ff7f2e6"),
        Example(
            kCCModeCFB, 32,
            "dc7e84bfda79164b7ecd8486985d3860 39ffed143b28b1c832113c6331e5407b"
                + "df10132415e54b92a13ed0a8267ae2f9 75a385741ab9cef82031623d55b1e471"),
        Example(kCCModeCFB8, 16, "3b79424c9c0dd436bace9e0ed4586a4f32b9"),
        Example(kCCModeCFB8, 24, "cda2521ef0a905ca44cd057cbf0d47a0678a"),
        Example(kCCModeCFB8, 32, "dc1f1a8520a64db55fcc8ac554844e889700"),
        Example(
            kCCModeOFB, 16,
            "3b3fd92eb72dad20333449f8e83cfb4a 7789508d16918f03f53c52dac54ed825"
                + "9740051e9c5fecf64344f7a82260edcc 304c6528f659c77866a510d9c1d6ae5e"),
        Example(
            kCCModeOFB, 32,
            "dc7e84bfda79164b7ecd8486985d3860 4febdc6740d20b3ac88f6ad82a4fb08d"
                + "71ab47a086e86eedf39d1c5bba97c408 0126141d67f37be8538f5a8be740e484"),
        Example(
            kCCModeCTR, 16,
            "874d6191b620e3261bef6864990db6ce 9806f66b7970fdff8617187bb9fffdff"
                + "5ae4df3edbd5d35e5b4f09020db03eab 1e031dda2fbe03d1792170a0f3009cee"),
        Example(
            kCCModeCTR, 24,
            "1abc932417521ca24f2b0459fe7e6e0b 090339ec0aa6faefd5ccc2c6f4ce8e94"
                + "1e36b26bd1ebc670d1bd1d665620abf7 4f78a7f6d29809585a97daec58c6b050"),
        Example(
            kCCModeCTR, 32,
            "601ec313775789a5b7a7f504bbf3d228 f443e3ca4d62b59aca84e990cacaf5c5"
                + "2b0930daa23de94ce87017ba2d84988d dfc9c58db67aada613c2dd08457941a6"),
    ]

    @Test(
        "The examples of SP 800-38A are encrypted and decrypted, in one piece and in random parts", arguments: examples)
    func comesOut(_ example: Example) {
        let plaintext = Array(Self.plaintext.prefix(example.ciphertext.count))
        for (operation, input, output) in [
            (kCCEncrypt, plaintext, example.ciphertext), (kCCDecrypt, example.ciphertext, plaintext),
        ] {
            for parts in [[input], randomParts(input), input.map { [$0] }] {
                let cryptor = Cryptor(operation, mode: example.mode, key: example.key, iv: example.iv)
                #expect(cryptor.run(parts) == output, "operation \(operation), parts \(parts)")
            }
        }
    }

    @Test(
        "CCCrypt and CCCryptorCreate choose CBC, and ECB by an option",
        arguments: examples.filter { [kCCModeECB, kCCModeCBC].contains($0.mode) })
    func choosesMode(_ example: Example) {
        let option = example.mode == kCCModeECB ? kCCOptionECBMode : 0
        let outcome = crypt(kCCEncrypt, Self.plaintext, key: example.key, iv: example.iv, options: option)
        #expect(outcome == .success(example.ciphertext))
        let cryptor = Cryptor(kCCDecrypt, key: example.key, iv: example.iv, options: option)
        #expect(cryptor.run([example.ciphertext]) == Self.plaintext)
    }

    @Test("A stream cipher writes as many bytes as it reads, ignores padding, and writes nothing at the end")
    func streams() {
        for mode in [kCCModeCFB, kCCModeCFB8, kCCModeCTR, kCCModeOFB] {
            let cryptor = Cryptor(
                kCCEncrypt, mode: mode, key: randomBytes(16), iv: Self.iv, padding: ccPKCS7Padding)
            #expect(cryptor.outputLength(for: 5, final: true) == 5)
            #expect(cryptor.update([1, 2, 3, 4, 5]).output.count == 5)
            #expect(cryptor.final() == .success([]))
            #expect(cryptor.update([6]).output.count == 1)
        }
    }

    @Test("DES and Triple DES give the examples of their standards; with three equal keys, Triple DES is DES")
    func des() {
        // FIPS 81, table B1; SP 800-67, appendix B.
        let single = crypt(
            kCCEncrypt, bytes("4e6f772069732074"), key: bytes("0123456789abcdef"), algorithm: kCCAlgorithmDES,
            options: kCCOptionECBMode)
        #expect(single == .success(bytes("3fa40e8a984d4815")))
        let triple = crypt(
            kCCEncrypt, Array("The qufck brown fox jump".utf8),
            key: bytes("0123456789abcdef 23456789abcdef01 456789abcdef0123"), algorithm: kCCAlgorithm3DES,
            options: kCCOptionECBMode)
        #expect(triple == .success(bytes("a826fd8ce53b855f cce21c8112256fe6 68d5c05dd9b6b900")))
        let key = randomBytes(8)
        let message = randomBytes(29)
        let iv = randomBytes(8)
        let one = crypt(kCCEncrypt, message, key: key, iv: iv, algorithm: kCCAlgorithmDES)
        #expect(one == crypt(kCCEncrypt, message, key: key + key + key, iv: iv, algorithm: kCCAlgorithm3DES))
        #expect(crypt(kCCDecrypt, one.output, key: key, iv: iv, algorithm: kCCAlgorithmDES) == .success(message))
    }
}
