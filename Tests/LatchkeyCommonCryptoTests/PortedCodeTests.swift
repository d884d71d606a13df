// SPDX-License-Identifier: Apache-2.0

import CommonCrypto
import Crypto
import Foundation
import KeychainTesting
import Testing

/// Code as apps contain it: extensions of Data and String, a check of pinned keys, a wrapper of
/// AES.
@Suite("App code with CommonCrypto")
struct PortedCodeTests {
    @Test("canImport sees the module under Apple's name")
    func canImport() {
        #if canImport(CommonCrypto)
            let isSeen = true
        #else
            let isSeen = false
        #endif
        #expect(isSeen)
    }

    @Test("Extensions of Data and String give the same hashes as swift-crypto")
    func extensions() {
        let data = Data("latchkey".utf8)
        let expected = hexadecimal(SHA256.hash(data: data))
        #expect(hexadecimal(data.sha256()) == expected)
        #expect("latchkey".sha256() == expected)
        #expect("".sha256() == hexadecimal(SHA256.hash(data: Data())))
        #expect("latchkey".md5() == hexadecimal(Insecure.MD5.hash(data: data)))
        let key = SymmetricKey(data: Data("key".utf8))
        #expect(
            "latchkey".hmac(key: "key")
                == Data(HMAC<SHA256>.authenticationCode(for: data, using: key)).base64EncodedString())
    }

    @Test("A file is hashed in pieces by a context")
    func file() throws {
        let data = Data(randomBytes(100_000))
        #expect(hexadecimal(StreamHash.sha256(of: InputStream(data: data))) == hexadecimal(SHA256.hash(data: data)))
    }

    @Test("A pinned key is accepted only with its own hash")
    func pinning() {
        let key = P256.Signing.PrivateKey().publicKey
        let pinner = PublicKeyPinner(hashes: [Data(SHA256.hash(data: key.derRepresentation)).base64EncodedString()])
        #expect(pinner.accepts(rawKey: key.x963Representation))
        #expect(!pinner.accepts(rawKey: P256.Signing.PrivateKey().publicKey.x963Representation))
    }

    @Test("The command openssl decrypts AES-CBC ciphertexts of CommonCrypto, and vice versa", arguments: [16, 24, 32])
    func aes(_ keyCount: Int) throws {
        let openssl = try OpenSSL()
        let aes = try #require(AES256(key: Data(randomBytes(keyCount)), iv: Data(randomBytes(16))))
        for count in [0, 1, 15, 16, 17, 1_000] {
            let message = Data(randomBytes(count))
            let sealed = try aes.encrypt(message)
            let words = ["-aes-\(keyCount * 8)-cbc", "-K", hexadecimal(aes.key), "-iv", hexadecimal(aes.iv)]
            let opened = try openssl.output(["enc", "-d"] + words + ["-in", try openssl.file(sealed)])
            #expect(opened == Array(message), "\(count) bytes")
            let foreign = try openssl.output(["enc", "-e"] + words + ["-in", try openssl.file(message)])
            #expect(try aes.decrypt(Data(foreign)) == message, "\(count) bytes")
        }
        #expect(throws: AES256.Failure(status: CCCryptorStatus(kCCAlignmentError))) {
            try aes.decrypt(Data(randomBytes(20)))
        }
    }

    @Test("A key derived from a password decrypts its own ciphertext")
    func password() throws {
        let salt = Data(randomBytes(8))
        let key = try #require(derivedKey(password: "pässword", salt: salt, rounds: 1_000))
        let expected = try OpenSSL().output([
            "kdf", "-keylen", "32", "-kdfopt", "digest:SHA256", "-kdfopt", "hexpass:\(hexadecimal("pässword".utf8))",
            "-kdfopt",
            "hexsalt:\(hexadecimal(salt))", "-kdfopt", "iter:1000", "-kdfopt", "pkcs5:1", "-binary", "PBKDF2",
        ])
        #expect(key == Data(expected))
    }
}

extension Data {
    fileprivate func sha256() -> Data {
        var hash = [UInt8](repeating: 0, count: Int(CC_SHA256_DIGEST_LENGTH))
        withUnsafeBytes { _ = CC_SHA256($0.baseAddress, CC_LONG(count), &hash) }
        return Data(hash)
    }
}

extension String {
    fileprivate func sha256() -> String {
        Data(utf8).sha256().map { String(format: "%02x", $0) }.joined()
    }

    fileprivate func md5() -> String {
        let context = UnsafeMutablePointer<CC_MD5_CTX>.allocate(capacity: 1)
        defer { context.deallocate() }
        var digest = [UInt8](repeating: 0, count: Int(CC_MD5_DIGEST_LENGTH))
        CC_MD5_Init(context)
        CC_MD5_Update(context, self, CC_LONG(lengthOfBytes(using: .utf8)))
        CC_MD5_Final(&digest, context)
        return digest.map { String(format: "%02x", $0) }.joined()
    }

    fileprivate func hmac(key: String) -> String {
        var code = Data(count: Int(CC_SHA256_DIGEST_LENGTH))
        code.withUnsafeMutableBytes { code in
            CCHmac(CCHmacAlgorithm(kCCHmacAlgSHA256), key, key.utf8.count, self, utf8.count, code.baseAddress)
        }
        return code.base64EncodedString()
    }
}

private enum StreamHash {
    static func sha256(of stream: InputStream) -> Data {
        stream.open()
        defer { stream.close() }
        var context = CC_SHA256_CTX()
        CC_SHA256_Init(&context)
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while case let count = stream.read(&buffer, maxLength: buffer.count), count > 0 {
            CC_SHA256_Update(&context, buffer, CC_LONG(count))
        }
        var digest = Data(count: Int(CC_SHA256_DIGEST_LENGTH))
        digest.withUnsafeMutableBytes { bytes in
            _ = CC_SHA256_Final(bytes.bindMemory(to: UInt8.self).baseAddress, &context)
        }
        return digest
    }
}

/// Compares the hash of a SubjectPublicKeyInfo. `SecKeyCopyExternalRepresentation` returns only the
/// last part of that structure.
private struct PublicKeyPinner {
    let hashes: Set<String>

    private let header: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
        0xce, 0x3d,
        0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]

    init(hashes: Set<String>) {
        self.hashes = hashes
    }

    func accepts(rawKey: Data) -> Bool {
        var info = Data(header)
        info.append(rawKey)
        return hashes.contains(info.sha256().base64EncodedString())
    }
}

private struct AES256 {
    struct Failure: Error, Equatable {
        let status: CCCryptorStatus
    }

    let key: Data
    let iv: Data

    init?(key: Data, iv: Data) {
        guard [kCCKeySizeAES128, kCCKeySizeAES192, kCCKeySizeAES256].contains(key.count), iv.count == kCCBlockSizeAES128
        else {
            return nil
        }
        self.key = key
        self.iv = iv
    }

    func encrypt(_ data: Data) throws -> Data { try crypt(data, operation: CCOperation(kCCEncrypt)) }
    func decrypt(_ data: Data) throws -> Data { try crypt(data, operation: CCOperation(kCCDecrypt)) }

    private func crypt(_ input: Data, operation: CCOperation) throws -> Data {
        var output = Data(count: input.count + kCCBlockSizeAES128)
        let capacity = output.count
        var moved: size_t = 0
        let status = output.withUnsafeMutableBytes { outputBytes in
            input.withUnsafeBytes { inputBytes in
                iv.withUnsafeBytes { ivBytes in
                    key.withUnsafeBytes { keyBytes in
                        CCCrypt(
                            operation, CCAlgorithm(kCCAlgorithmAES), CCOptions(kCCOptionPKCS7Padding),
                            keyBytes.baseAddress,
                            key.count, ivBytes.baseAddress, inputBytes.baseAddress, input.count,
                            outputBytes.baseAddress, capacity,
                            &moved)
                    }
                }
            }
        }
        guard status == kCCSuccess else { throw Failure(status: status) }
        output.removeSubrange(moved..<output.count)
        return output
    }
}

private func derivedKey(password: String, salt: Data, rounds: Int) -> Data? {
    var key = Data(repeating: 0, count: kCCKeySizeAES256)
    let count = key.count
    let status = key.withUnsafeMutableBytes { keyBytes in
        salt.withUnsafeBytes { saltBytes in
            CCKeyDerivationPBKDF(
                CCPBKDFAlgorithm(kCCPBKDF2), password, password.utf8.count,
                saltBytes.bindMemory(to: UInt8.self).baseAddress,
                salt.count, CCPseudoRandomAlgorithm(kCCPRFHmacAlgSHA256), UInt32(rounds),
                keyBytes.bindMemory(to: UInt8.self).baseAddress, count)
        }
    }
    return status == Int32(kCCSuccess) ? key : nil
}
