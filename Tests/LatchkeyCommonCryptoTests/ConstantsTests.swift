// SPDX-License-Identifier: Apache-2.0

import CommonCrypto
import Testing

@Suite("Constants of CommonCrypto")
struct ConstantsTests {
    @Test("Status codes have the values of CommonCryptoError.h")
    func statuses() {
        #expect(kCCSuccess == 0)
        let errors: [Int] = [
            kCCParamError, kCCBufferTooSmall, kCCMemoryFailure, kCCAlignmentError, kCCDecodeError, kCCUnimplemented,
            kCCOverflow,
            kCCRNGFailure, kCCUnspecifiedError, kCCCallSequenceError, kCCKeySizeError, kCCInvalidKey,
        ]
        #expect(errors == (-4311 ... -4300).reversed())
    }

    @Test("Operations, algorithms, options and modes have the values of CommonCryptor.h")
    func ciphers() {
        #expect([kCCEncrypt, kCCDecrypt] == [0, 1])
        #expect([kCCAlgorithmAES, kCCAlgorithmAES128] == [0, 0])
        #expect(
            [
                kCCAlgorithmDES, kCCAlgorithm3DES, kCCAlgorithmCAST, kCCAlgorithmRC4, kCCAlgorithmRC2,
                kCCAlgorithmBlowfish,
            ] == [1, 2, 3, 4, 5, 6])
        #expect([kCCOptionPKCS7Padding, kCCOptionECBMode] == [1, 2])
        #expect(
            [kCCModeECB, kCCModeCBC, kCCModeCFB, kCCModeCTR, kCCModeOFB, kCCModeRC4, kCCModeCFB8] == [
                1, 2, 3, 4, 7, 9, 10,
            ])
        #expect([ccNoPadding, ccPKCS7Padding, kCCModeOptionCTR_LE, kCCModeOptionCTR_BE] == [0, 1, 1, 2])
    }

    @Test("Sizes have the values of CommonCryptor.h")
    func sizes() {
        #expect(
            [kCCKeySizeAES128, kCCKeySizeAES192, kCCKeySizeAES256, kCCKeySizeDES, kCCKeySize3DES] == [
                16, 24, 32, 8, 24,
            ])
        #expect(
            [
                kCCKeySizeMinCAST, kCCKeySizeMaxCAST, kCCKeySizeMinRC4, kCCKeySizeMaxRC4, kCCKeySizeMinRC2,
                kCCKeySizeMaxRC2,
                kCCKeySizeMinBlowfish, kCCKeySizeMaxBlowfish,
            ] == [5, 16, 1, 512, 1, 128, 8, 56])
        #expect(
            [
                kCCBlockSizeAES128, kCCBlockSizeDES, kCCBlockSize3DES, kCCBlockSizeCAST, kCCBlockSizeRC2,
                kCCBlockSizeBlowfish,
            ] == [16, 8, 8, 8, 8, 8])
    }

    @Test("HMAC and PBKDF2 have the values of CommonHMAC.h and CommonKeyDerivation.h")
    func functions() {
        #expect(
            [
                kCCHmacAlgSHA1, kCCHmacAlgMD5, kCCHmacAlgSHA256, kCCHmacAlgSHA384, kCCHmacAlgSHA512, kCCHmacAlgSHA224,
            ] == [0, 1, 2, 3, 4, 5])
        #expect(kCCPBKDF2 == 2)
        #expect(
            [
                kCCPRFHmacAlgSHA1, kCCPRFHmacAlgSHA224, kCCPRFHmacAlgSHA256, kCCPRFHmacAlgSHA384, kCCPRFHmacAlgSHA512,
            ] == [1, 2, 3, 4, 5])
    }
}
