// SPDX-License-Identifier: Apache-2.0

import CommonCrypto
import Glibc
import Testing

@Suite("CommonCryptor")
struct CryptorTests {
    private let key = randomBytes(32)
    private let iv = randomBytes(16)

    @Test("Padding extends any message to whole blocks and adds at least one byte", arguments: 0..<50)
    func padding(_ count: Int) {
        let message = randomBytes(count)
        let sealed = crypt(kCCEncrypt, message, key: key, iv: iv)
        #expect(sealed.status == kCCSuccess)
        #expect(sealed.output.count == (count / 16 + 1) * 16)
        #expect(crypt(kCCDecrypt, sealed.output, key: key, iv: iv) == .success(message))
    }

    @Test("A message in random parts gives the same output as in one piece", arguments: 0..<100)
    func parts(_ count: Int) {
        let message = randomBytes(count * 7)
        for options in [kCCOptionPKCS7Padding, kCCOptionPKCS7Padding | kCCOptionECBMode] {
            let sealed = crypt(kCCEncrypt, message, key: key, iv: iv, options: options).output
            #expect(Cryptor(kCCEncrypt, key: key, iv: iv, options: options).run(randomParts(message)) == sealed)
            #expect(Cryptor(kCCDecrypt, key: key, iv: iv, options: options).run(randomParts(sealed)) == message)
        }
    }

    @Test("The output length is that of an update, and with the end at least that of both")
    func outputLengths() {
        for operation in [kCCEncrypt, kCCDecrypt] {
            for options in [0, kCCOptionPKCS7Padding] {
                let message =
                    operation == kCCEncrypt ? randomBytes(96) : crypt(kCCEncrypt, randomBytes(90), key: key).output
                let cryptor = Cryptor(operation, key: key, options: options)
                let whole = cryptor.outputLength(for: message.count, final: true)
                var written = 0
                for part in randomParts(message) {
                    let expected = cryptor.outputLength(for: part.count, final: false)
                    let outcome = cryptor.update(part, capacity: expected)
                    #expect(outcome.status == kCCSuccess)
                    #expect(outcome.moved == expected)
                    written += outcome.moved
                }
                written += cryptor.final(capacity: whole - written).moved
                #expect(written <= whole)
                #expect(whole - written < 16)
            }
        }
    }

    @Test("A missing initialization vector stands for zeros, and ECB uses none")
    func zeroVector() {
        let message = randomBytes(32)
        let zeros = [UInt8](repeating: 0, count: 16)
        #expect(crypt(kCCEncrypt, message, key: key) == crypt(kCCEncrypt, message, key: key, iv: zeros))
        let ecb = kCCOptionECBMode | kCCOptionPKCS7Padding
        #expect(
            crypt(kCCEncrypt, message, key: key, iv: iv, options: ecb)
                == crypt(kCCEncrypt, message, key: key, options: ecb))
    }

    @Test("ECB does not read the vector, also at the end of the readable memory")
    func unreadableVector() {
        let page = Int(getpagesize())
        let memory = mmap(nil, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        defer { munmap(memory, 2 * page) }
        #expect(memory != MAP_FAILED && mprotect(memory.map { $0 + page }, page, PROT_NONE) == 0)
        let message = randomBytes(32)
        let options = kCCOptionECBMode | kCCOptionPKCS7Padding
        let outcome = CipherOutcome(capacity: 48) { output, capacity, moved in
            CCCrypt(
                CCOperation(kCCEncrypt), CCAlgorithm(kCCAlgorithmAES), CCOptions(options), key, key.count,
                memory.map { $0 + page - 1 }, message, message.count, output, capacity, moved)
        }
        #expect(outcome == crypt(kCCEncrypt, message, key: key, options: options))
    }

    @Test("The output may be the memory of the input", arguments: [0, 1, 15, 16, 17, 160, 1_000])
    func inPlace(_ count: Int) {
        let message = randomBytes(count)
        var buffer = message + [UInt8](repeating: 0, count: 16)
        var moved = 0
        let capacity = buffer.count
        func run(_ operation: Int, _ inputCount: Int) -> CCCryptorStatus {
            buffer.withUnsafeMutableBytes { buffer in
                CCCrypt(
                    CCOperation(operation), CCAlgorithm(kCCAlgorithmAES), CCOptions(kCCOptionPKCS7Padding), key,
                    key.count, iv,
                    buffer.baseAddress, inputCount, buffer.baseAddress, capacity, &moved)
            }
        }
        #expect(run(kCCEncrypt, count) == kCCSuccess)
        #expect(Array(buffer.prefix(moved)) == crypt(kCCEncrypt, message, key: key, iv: iv).output)
        #expect(run(kCCDecrypt, moved) == kCCSuccess)
        #expect(Array(buffer.prefix(moved)) == message)
    }

    @Test("A stream cipher works in place, in parts")
    func streamInPlace() {
        let message = randomBytes(100)
        let cryptor = Cryptor(kCCEncrypt, mode: kCCModeCTR, key: key, iv: iv)
        var buffer = message
        var moved = 0
        let status = buffer.withUnsafeMutableBytes { buffer in
            [0..<33, 33..<34, 34..<100].map { range in
                let start = buffer.baseAddress.map { $0 + range.lowerBound }
                return CCCryptorUpdate(cryptor.reference, start, range.count, start, range.count, &moved)
            }
        }
        #expect(status == [0, 0, 0])
        #expect(buffer == Cryptor(kCCEncrypt, mode: kCCModeCTR, key: key, iv: iv).run([message]))
    }

    @Test("A reset context encrypts another message with the same key and the given vector or zeros")
    func reset() {
        let message = randomBytes(20)
        let cryptor = Cryptor(kCCEncrypt, key: key, iv: iv)
        _ = cryptor.update(randomBytes(50))
        #expect(CCCryptorReset(cryptor.reference, iv) == kCCSuccess)
        #expect(cryptor.run([message]) == crypt(kCCEncrypt, message, key: key, iv: iv).output)
        #expect(CCCryptorReset(cryptor.reference, nil) == kCCSuccess)
        #expect(cryptor.run([message]) == crypt(kCCEncrypt, message, key: key).output)
        let counter = Cryptor(kCCEncrypt, mode: kCCModeCTR, key: key, iv: iv)
        let first = counter.update(message)
        #expect(CCCryptorReset(counter.reference, iv) == kCCSuccess)
        #expect(counter.update(message) == first)
    }

    @Test("Without padding, and with ECB, a context can continue after the end")
    func afterTheEnd() {
        let message = randomBytes(64)
        let cbc = Cryptor(kCCEncrypt, key: key, iv: iv, options: 0)
        let first = cbc.run([Array(message.prefix(32))])
        let second = cbc.run([Array(message.suffix(32))])
        #expect((first ?? []) + (second ?? []) == crypt(kCCEncrypt, message, key: key, iv: iv, options: 0).output)
        let options = kCCOptionECBMode | kCCOptionPKCS7Padding
        let ecb = Cryptor(kCCEncrypt, key: key, options: options)
        for count in [5, 16, 40] {
            let message = randomBytes(count)
            #expect(ecb.run([message]) == crypt(kCCEncrypt, message, key: key, options: options).output)
        }
        // After wrong padding as well.
        let opening = Cryptor(kCCDecrypt, key: key, options: options)
        let zeros = [UInt8](repeating: 0, count: 32)
        let unpadded = crypt(kCCEncrypt, zeros, key: key, options: kCCOptionECBMode).output
        #expect(opening.run([unpadded]) == nil)
        let sealed = crypt(kCCEncrypt, message, key: key, options: options).output
        #expect(opening.run([sealed]) == message)
    }
}
