// SPDX-License-Identifier: Apache-2.0

import CommonCrypto
import Foundation
import KeychainTesting
import Testing

@Suite("CommonKeyDerivation and CommonRandom")
struct KeyDerivationTests {
    @Test(
        "The keys are those of the vectors of RFC 6070",
        arguments: [
            ("password", "salt", 1, "0c60c80f961f0e71f3a9b524af6012062fe037a6"),
            ("password", "salt", 2, "ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957"),
            ("password", "salt", 4_096, "4b007901b765489abead49d926f721d065a429c1"),
            (
                "passwordPASSWORDpassword", "saltSALTsaltSALTsaltSALTsaltSALTsalt", 4_096,
                "3d2eec4fe41c849b80c8d83662c0e44a8b291a964cf2f07038"
            ),
            ("pass\0word", "sa\0lt", 4_096, "56fa6aa75548099dcc37d7f03425e0c3"),
        ] as [(String, String, UInt32, String)])
    func rfc6070(_ password: String, _ salt: String, _ rounds: UInt32, _ key: String) {
        let derived = derive(password, salt, kCCPRFHmacAlgSHA1, rounds, count: key.utf8.count / 2)
        #expect(derived.status == kCCSuccess)
        #expect(hexadecimal(derived.key) == key)
    }

    @Test(
        "The keys are those of the vectors of RFC 7914, section 11",
        arguments: [
            (
                "passwd", "salt", 1,
                "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"
                    + "49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783"
            ),
            (
                "Password", "NaCl", 80_000,
                "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56"
                    + "a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62b397f33c8d"
            ),
        ] as [(String, String, UInt32, String)])
    func rfc7914(_ password: String, _ salt: String, _ rounds: UInt32, _ key: String) {
        let derived = derive(password, salt, kCCPRFHmacAlgSHA256, rounds, count: 64)
        #expect(derived.status == kCCSuccess)
        #expect(hexadecimal(derived.key) == key)
    }

    @Test(
        "Each pseudo-random function derives the same key as the command openssl",
        arguments: [
            (kCCPRFHmacAlgSHA1, "SHA1"), (kCCPRFHmacAlgSHA224, "SHA224"), (kCCPRFHmacAlgSHA256, "SHA256"),
            (kCCPRFHmacAlgSHA384, "SHA384"), (kCCPRFHmacAlgSHA512, "SHA512"),
        ])
    func differential(_ function: Int, _ name: String) throws {
        let openssl = try OpenSSL()
        for count in [1, 20, 33, 64, 65, 200] {
            let rounds = UInt32.random(in: 1...50)
            let expected = try openssl.output([
                "kdf", "-keylen", "\(count)", "-kdfopt", "digest:\(name)", "-kdfopt", "pass:a pass phrase", "-kdfopt",
                "hexsalt:\(hexadecimal("salt".utf8))", "-kdfopt", "iter:\(rounds)", "-kdfopt", "pkcs5:1", "-binary",
                "PBKDF2",
            ])
            let derived = derive("a pass phrase", "salt", function, rounds, count: count)
            #expect(derived.key == expected, "\(name), \(rounds) iterations, \(count) bytes")
        }
    }

    @Test("Null pointers with length 0 are an empty password and an empty salt")
    func empty() {
        var one = [UInt8](repeating: 0, count: 20)
        var other = one
        #expect(pbkdf(nil, 0, nil, 0, &one, 20) == kCCSuccess)
        #expect(pbkdf("", 0, [1], 0, &other, 20) == kCCSuccess)
        #expect(one == other)
        #expect(one != [UInt8](repeating: 0, count: 20))
    }

    @Test("Invalid arguments give kCCParamError and write nothing")
    func badArguments() {
        var key = [UInt8](repeating: 7, count: 20)
        #expect(pbkdf("password", 8, [1, 2], 2, algorithm: 1, &key, 20) == kCCParamError)
        #expect(pbkdf("password", 8, [1, 2], 2, function: 0, &key, 20) == kCCParamError)
        #expect(pbkdf("password", 8, [1, 2], 2, function: 6, &key, 20) == kCCParamError)
        #expect(pbkdf("password", 8, [1, 2], 2, rounds: 0, &key, 20) == kCCParamError)
        #expect(pbkdf("password", 8, [1, 2], 2, rounds: .max, &key, 20) == kCCParamError)
        #expect(pbkdf(nil, 8, [1, 2], 2, &key, 20) == kCCParamError)
        #expect(pbkdf("password", -1, [1, 2], 2, &key, 20) == kCCParamError)
        #expect(pbkdf("password", .max, [1, 2], 2, &key, 20) == kCCParamError)
        #expect(pbkdf("password", 8, nil, 2, &key, 20) == kCCParamError)
        #expect(pbkdf("password", 8, [1, 2], .min, &key, 20) == kCCParamError)
        #expect(pbkdf("password", 8, [1, 2], 2, &key, 0) == kCCParamError)
        #expect(pbkdf("password", 8, [1, 2], 2, &key, -1) == kCCParamError)
        #expect(pbkdf("password", 8, [1, 2], 2, nil, 20) == kCCParamError)
        #expect(key == [UInt8](repeating: 7, count: 20))
    }

    @Test("Calibration returns at least 10 000 iterations, and more for more time and for fewer blocks")
    func calibration() {
        func rounds(_ milliseconds: UInt32, count: Int = 32) -> UInt32 {
            CCCalibratePBKDF(
                CCPBKDFAlgorithm(kCCPBKDF2), 8, 16, CCPseudoRandomAlgorithm(kCCPRFHmacAlgSHA256), count, milliseconds)
        }
        #expect(rounds(0) == 10_000)
        #expect(rounds(.max, count: .max) == 10_000)
        // A factor of one thousand, so that the load of the machine cannot reverse the order.
        #expect(rounds(1_000_000) > rounds(1_000))
        #expect(rounds(1_000_000) > rounds(1_000_000, count: 32_000))
    }

    @Test("Calibration returns UInt32.max for invalid arguments, like Apple's")
    func calibrationOfBadArguments() {
        let function = CCPseudoRandomAlgorithm(kCCPRFHmacAlgSHA256)
        #expect(CCCalibratePBKDF(1, 8, 16, function, 32, 100) == .max)
        #expect(CCCalibratePBKDF(2, 8, 16, 0, 32, 100) == .max)
        #expect(CCCalibratePBKDF(2, -1, 16, function, 32, 100) == .max)
        #expect(CCCalibratePBKDF(2, 8, 133, function, 32, 100) == .max)
        #expect(CCCalibratePBKDF(2, 8, -1, function, 32, 100) == .max)
        #expect(CCCalibratePBKDF(2, 8, 16, function, 0, 100) == .max)
    }

    @Test(
        "Random bytes fill exactly the requested length, also across internal parts",
        arguments: [
            0, 1, 16, 4_095, 4_096, 4_097, 10_000,
        ])
    func random(_ count: Int) {
        var one = [UInt8](repeating: 0, count: count + 1)
        var other = one
        #expect(CCRandomGenerateBytes(&one, count) == kCCSuccess)
        #expect(CCRandomGenerateBytes(&other, count) == kCCSuccess)
        #expect(one.last == 0)
        // Sixteen bytes that stay zero, or occur twice, are not random.
        if count >= 16 {
            #expect(one.prefix(count).suffix(16) != other.prefix(count).suffix(16))
            #expect(one.prefix(count).suffix(16).contains { $0 != 0 })
            #expect(one.prefix(16).contains { $0 != 0 })
        }
    }

    @Test("Random bytes for a null pointer give kCCParamError, unless the count is 0")
    func randomBadArguments() {
        var byte: UInt8 = 7
        #expect(CCRandomGenerateBytes(nil, 0) == kCCSuccess)
        #expect(CCRandomGenerateBytes(nil, 1) == kCCParamError)
        #expect(CCRandomGenerateBytes(&byte, -1) == kCCParamError)
        #expect(byte == 7)
    }

    private func derive(
        _ password: String, _ salt: String, _ function: Int, _ rounds: UInt32, count: Int
    ) -> (status: Int32, key: [UInt8]) {
        var key = [UInt8](repeating: 0, count: count)
        let status = pbkdf(
            password, password.utf8.count, Array(salt.utf8), salt.utf8.count, function: function, rounds: rounds, &key,
            count)
        return (status, key)
    }

    private func pbkdf(
        _ password: UnsafePointer<CChar>?, _ passwordCount: Int, _ salt: UnsafePointer<UInt8>?, _ saltCount: Int,
        algorithm: CCPBKDFAlgorithm = CCPBKDFAlgorithm(kCCPBKDF2), function: Int = kCCPRFHmacAlgSHA1,
        rounds: UInt32 = 1,
        _ key: UnsafeMutablePointer<UInt8>?, _ keyCount: Int
    ) -> Int32 {
        CCKeyDerivationPBKDF(
            algorithm, password, passwordCount, salt, saltCount, CCPseudoRandomAlgorithm(function), rounds, key,
            keyCount)
    }
}
