// SPDX-License-Identifier: Apache-2.0

import CommonCrypto
import Testing

@Suite("Errors of CommonCryptor")
struct CryptorErrorTests {
    private let key = randomBytes(16)
    private let iv = randomBytes(16)

    @Test(
        "An unsupported key size gives kCCKeySizeError",
        arguments: [
            (kCCAlgorithmAES, 0), (kCCAlgorithmAES, 15), (kCCAlgorithmAES, 17), (kCCAlgorithmAES, 64),
            (kCCAlgorithmAES, 128),
            (kCCAlgorithmDES, 7), (kCCAlgorithmDES, 16), (kCCAlgorithm3DES, 8), (kCCAlgorithm3DES, 16),
        ])
    func keySizes(_ algorithm: Int, _ count: Int) {
        #expect(crypt(kCCEncrypt, [1], key: randomBytes(count), algorithm: algorithm) == .failure(kCCKeySizeError))
        let cryptor = Cryptor(kCCDecrypt, key: randomBytes(count), algorithm: algorithm)
        #expect(cryptor.status == kCCKeySizeError)
        #expect(cryptor.reference == nil)
    }

    @Test(
        "Unsupported ciphers and modes give kCCUnimplemented, values that Apple does not define kCCParamError",
        arguments: [
            (kCCEncrypt, kCCAlgorithmCAST, kCCModeCBC, kCCUnimplemented),
            (kCCEncrypt, kCCAlgorithmRC4, kCCModeRC4, kCCUnimplemented),
            (kCCEncrypt, kCCAlgorithmRC2, kCCModeCBC, kCCUnimplemented),
            (kCCEncrypt, kCCAlgorithmBlowfish, kCCModeCBC, kCCUnimplemented),
            (kCCEncrypt, kCCAlgorithmAES, kCCModeRC4, kCCUnimplemented),
            (kCCEncrypt, kCCAlgorithmAES, 8, kCCUnimplemented),
            (kCCEncrypt, kCCAlgorithmAES, 11, kCCUnimplemented), (kCCEncrypt, kCCAlgorithmAES, 0, kCCParamError),
            (kCCEncrypt, kCCAlgorithmAES, 99, kCCParamError), (kCCEncrypt, 7, kCCModeCBC, kCCParamError),
            (2, kCCAlgorithmAES, kCCModeCBC, kCCParamError), (99, kCCAlgorithmAES, kCCModeCBC, kCCParamError),
        ])
    func unsupported(_ operation: Int, _ algorithm: Int, _ mode: Int, _ status: Int) {
        #expect(Cryptor(operation, mode: mode, key: key, algorithm: algorithm).status == status)
    }

    @Test("DES has no counter mode, and paddings other than PKCS #7 are refused")
    func refused() {
        #expect(
            Cryptor(kCCEncrypt, mode: kCCModeCTR, key: randomBytes(8), algorithm: kCCAlgorithmDES).status
                == kCCUnimplemented)
        #expect(Cryptor(kCCEncrypt, mode: kCCModeCBC, key: key, padding: 2).status == kCCParamError)
    }

    @Test(
        "A buffer that is one byte too small gives kCCBufferTooSmall and the required size, and is not written"
    )
    func bufferTooSmall() {
        let sealed = crypt(kCCEncrypt, randomBytes(20), key: key, iv: iv).output
        #expect(crypt(kCCEncrypt, randomBytes(20), key: key, capacity: 31) == .failure(kCCBufferTooSmall, moved: 32))
        #expect(crypt(kCCEncrypt, randomBytes(32), key: key, capacity: 32) == .failure(kCCBufferTooSmall, moved: 48))
        #expect(crypt(kCCEncrypt, [], key: key, capacity: 0) == .failure(kCCBufferTooSmall, moved: 16))
        #expect(
            crypt(kCCEncrypt, randomBytes(32), key: key, options: 0, capacity: 31)
                == .failure(kCCBufferTooSmall, moved: 32))
        // Like Apple's: also if the buffer is large enough for the plaintext.
        #expect(crypt(kCCDecrypt, sealed, key: key, iv: iv, capacity: 31) == .failure(kCCBufferTooSmall, moved: 32))
        var moved = 0
        let status = CCCrypt(
            CCOperation(kCCEncrypt), CCAlgorithm(kCCAlgorithmAES), CCOptions(kCCOptionPKCS7Padding), key, 16, iv,
            sealed, 32, nil, 0,
            &moved)
        #expect(status == kCCBufferTooSmall)
        #expect(moved == 48)
    }

    @Test(
        "An update or an end with a small buffer can be repeated, and no state is lost",
        arguments: [kCCEncrypt, kCCDecrypt])
    func repeated(_ operation: Int) {
        let message = randomBytes(45)
        let sealed = crypt(kCCEncrypt, message, key: key, iv: iv).output
        let (input, output) = operation == kCCEncrypt ? (message, sealed) : (sealed, message)
        let cryptor = Cryptor(operation, key: key, iv: iv)
        #expect(cryptor.update(input, capacity: 31) == .failure(kCCBufferTooSmall, moved: 32))
        let first = cryptor.update(input)
        #expect(first.status == kCCSuccess)
        let rest = Array(output.dropFirst(first.moved))
        for _ in 0..<3 {
            #expect(cryptor.final(capacity: rest.count - 1) == .failure(kCCBufferTooSmall, moved: rest.count))
        }
        #expect(cryptor.final(capacity: rest.count) == .success(rest))
        #expect(first.output + rest == output)
    }

    @Test("A message that must be a multiple of the block size and is not gives kCCAlignmentError")
    func alignment() {
        #expect(crypt(kCCEncrypt, randomBytes(17), key: key, options: 0) == .failure(kCCAlignmentError))
        #expect(crypt(kCCEncrypt, randomBytes(17), key: key, options: kCCOptionECBMode) == .failure(kCCAlignmentError))
        #expect(crypt(kCCDecrypt, randomBytes(17), key: key, options: 0) == .failure(kCCAlignmentError))
        #expect(crypt(kCCDecrypt, randomBytes(17), key: key) == .failure(kCCAlignmentError))
        #expect(crypt(kCCEncrypt, [], key: key, options: 0) == .success([]))
    }

    @Test("A plaintext without valid padding gives kCCDecodeError", arguments: [0, 17, 255])
    func badPadding(_ last: UInt8) {
        // The last byte of whole blocks without padding is taken for the padding length.
        let sealed = crypt(kCCEncrypt, randomBytes(31) + [last], key: key, iv: iv, options: 0).output
        #expect(crypt(kCCDecrypt, sealed, key: key, iv: iv) == .failure(kCCDecodeError))
        let cryptor = Cryptor(kCCDecrypt, key: key, iv: iv)
        #expect(cryptor.run([sealed]) == nil)
        #expect(cryptor.final() == .failure(kCCCallSequenceError))
    }

    @Test("An empty ciphertext has no padding, so it does not decode")
    func emptyCiphertext() {
        #expect(crypt(kCCDecrypt, [], key: key, iv: iv) == .failure(kCCDecodeError))
    }

    @Test("After the end of a padded message a context must be reset")
    func callSequence() {
        let cryptor = Cryptor(kCCEncrypt, key: key, iv: iv)
        let sealed = cryptor.run([[1, 2, 3]])
        #expect(cryptor.update([4]) == .failure(kCCCallSequenceError))
        #expect(cryptor.final() == .failure(kCCCallSequenceError))
        #expect(CCCryptorReset(cryptor.reference, iv) == kCCSuccess)
        #expect(cryptor.run([[1, 2, 3]]) == sealed)
    }

    @Test("Only CBC and CTR can be reset", arguments: [kCCModeECB, kCCModeCFB, kCCModeCFB8, kCCModeOFB])
    func reset(_ mode: Int) {
        let cryptor = Cryptor(kCCEncrypt, mode: mode, key: key)
        // The context goes with the cryptor.
        withExtendedLifetime(cryptor) { #expect(CCCryptorReset(cryptor.reference, iv) == kCCUnimplemented) }
    }

    @Test("Null contexts give kCCParamError and the length 0")
    func nullContexts() {
        let input: [UInt8] = [1]
        var output: UInt8 = 7
        var moved = 7
        #expect(CCCryptorUpdate(nil, input, 1, &output, 1, &moved) == kCCParamError)
        #expect(moved == 0)
        #expect(CCCryptorFinal(nil, &output, 1, nil) == kCCParamError)
        #expect(CCCryptorReset(nil, nil) == kCCParamError)
        #expect(CCCryptorRelease(nil) == kCCSuccess)
        #expect(CCCryptorGetOutputLength(nil, 1, true) == 0)
        #expect(output == 7)
    }

    @Test("A null key and a null pointer for the context give kCCParamError")
    func nullKeys() {
        let (encrypt, aes) = (CCOperation(kCCEncrypt), CCAlgorithm(kCCAlgorithmAES))
        #expect(CCCryptorCreate(encrypt, aes, 0, key, 16, iv, nil) == kCCParamError)
        var reference = Cryptor(kCCEncrypt, key: key).reference
        #expect(CCCryptorCreate(encrypt, aes, 0, nil, 16, iv, &reference) == kCCParamError)
        #expect(reference == nil)
        #expect(CCCrypt(encrypt, aes, 0, nil, 16, iv, nil, 0, nil, 0, nil) == kCCParamError)
        #expect(CCCrypt(encrypt, aes, 0, key, 16, iv, nil, 0, nil, 0, nil) == kCCSuccess)
    }

    @Test("A negative length gives kCCParamError, a negative key length kCCKeySizeError", arguments: [-1, Int.min])
    func negativeLengths(_ length: Int) {
        let input: [UInt8] = [1]
        var output: UInt8 = 7
        var moved = 7
        let cryptor = Cryptor(kCCEncrypt, key: key)
        defer { withExtendedLifetime(cryptor) {} }
        #expect(cryptor.outputLength(for: length, final: true) == 0)
        #expect(CCCryptorUpdate(cryptor.reference, input, length, &output, 1, &moved) == kCCParamError)
        #expect(CCCryptorUpdate(cryptor.reference, input, 1, &output, length, &moved) == kCCParamError)
        #expect(CCCryptorFinal(cryptor.reference, &output, length, &moved) == kCCParamError)
        let (encrypt, aes) = (CCOperation(kCCEncrypt), CCAlgorithm(kCCAlgorithmAES))
        #expect(CCCrypt(encrypt, aes, 0, key, length, iv, input, 1, &output, 1, nil) == kCCKeySizeError)
        #expect(CCCrypt(encrypt, aes, 0, key, 16, iv, input, length, &output, 1, nil) == kCCParamError)
        #expect(CCCrypt(encrypt, aes, 0, key, 16, iv, input, 1, &output, length, nil) == kCCParamError)
        #expect(moved == 0)
        #expect(output == 7)
    }

    @Test(
        "Null pointers with a length above 0, and lengths that overflow, give kCCParamError", arguments: [1, Int.max])
    func nullBuffers(_ length: Int) {
        let cryptor = Cryptor(kCCEncrypt, key: key)
        #expect(cryptor.update([1, 2, 3]) == .success([]))
        #expect(CCCryptorUpdate(cryptor.reference, nil, length, nil, 0, nil) == kCCParamError)
        #expect(CCCryptorUpdate(cryptor.reference, nil, 0, nil, length, nil) == kCCParamError)
        #expect(CCCryptorFinal(cryptor.reference, nil, length, nil) == kCCParamError)
        #expect(cryptor.outputLength(for: .max, final: false) == 0)
        // The state is intact.
        #expect(cryptor.final() == crypt(kCCEncrypt, [1, 2, 3], key: key))
    }

    @Test("Any values in any order of calls give a status of CommonCrypto and write nothing past the output")
    func anyCalls() {
        for _ in 0..<500 {
            var reference: CCCryptorRef?
            let created = CCCryptorCreateWithMode(
                .random(in: 0...2), .random(in: 0...13), .random(in: 0...7), .random(in: 0...2),
                Bool.random() ? iv : nil,
                randomBytes(64), [8, 16, 24, 32, .random(in: -1...64)].randomElement() ?? 0, nil, 0, 0, 0, &reference)
            defer { CCCryptorRelease(reference) }
            #expect((created == kCCSuccess) == (reference != nil))
            for _ in 0..<10 where reference != nil {
                let input = randomBytes(.random(in: 0...70))
                let capacity = Int.random(in: 0...80)
                var output = [UInt8](repeating: 0xee, count: capacity + 100)
                var moved = -1
                let status =
                    switch Int.random(in: 0...3) {
                    case 0: CCCryptorFinal(reference, &output, capacity, &moved)
                    case 1: CCCryptorReset(reference, Bool.random() ? iv : nil)
                    default: CCCryptorUpdate(reference, input, input.count, &output, capacity, &moved)
                    }
                #expect(status == kCCSuccess || (-4311 ... -4300).contains(Int(status)))
                #expect(status != kCCUnspecifiedError)
                if status == kCCSuccess { #expect(moved <= capacity) }
                #expect(output.dropFirst(capacity).allSatisfy { $0 == 0xee })
            }
        }
    }
}
