// SPDX-License-Identifier: Apache-2.0

import CommonCrypto
import Foundation
import Testing

/// Calls that Swift accepts for functions imported from C (SE-0324), and that packages contain.
@Suite("Raw pointers in the place of pointers to bytes")
struct RawPointerTests {
    @Test("Each digest is written to a raw pointer, at once and in parts")
    func digests() {
        let message = Data("abc".utf8)
        expect(CC_MD5_DIGEST_LENGTH, "900150983cd24fb0d6963f7d28e17f72") { md in
            message.withUnsafeBytes { CC_MD5($0.baseAddress, 3, md) } != nil
        } parts: { md in
            var context = CC_MD5_CTX()
            CC_MD5_Init(&context)
            message.withUnsafeBytes { _ = CC_MD5_Update(&context, $0.baseAddress, 3) }
            return CC_MD5_Final(md, &context)
        }
        expect(CC_SHA1_DIGEST_LENGTH, "a9993e364706816aba3e25717850c26c9cd0d89d") { md in
            message.withUnsafeBytes { CC_SHA1($0.baseAddress, 3, md) } != nil
        } parts: { md in
            var context = CC_SHA1_CTX()
            CC_SHA1_Init(&context)
            message.withUnsafeBytes { _ = CC_SHA1_Update(&context, $0.baseAddress, 3) }
            return CC_SHA1_Final(md, &context)
        }
        expect(CC_SHA224_DIGEST_LENGTH, "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7") { md in
            message.withUnsafeBytes { CC_SHA224($0.baseAddress, 3, md) } != nil
        } parts: { md in
            var context = CC_SHA256_CTX()
            CC_SHA224_Init(&context)
            message.withUnsafeBytes { _ = CC_SHA224_Update(&context, $0.baseAddress, 3) }
            return CC_SHA224_Final(md, &context)
        }
        expect(
            CC_SHA256_DIGEST_LENGTH, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        ) { md in
            message.withUnsafeBytes { CC_SHA256($0.baseAddress, 3, md) } != nil
        } parts: { md in
            var context = CC_SHA256_CTX()
            CC_SHA256_Init(&context)
            message.withUnsafeBytes { _ = CC_SHA256_Update(&context, $0.baseAddress, 3) }
            return CC_SHA256_Final(md, &context)
        }
        expect(
            CC_SHA384_DIGEST_LENGTH,
            "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"
        ) { md in
            message.withUnsafeBytes { CC_SHA384($0.baseAddress, 3, md) } != nil
        } parts: { md in
            var context = CC_SHA512_CTX()
            CC_SHA384_Init(&context)
            message.withUnsafeBytes { _ = CC_SHA384_Update(&context, $0.baseAddress, 3) }
            return CC_SHA384_Final(md, &context)
        }
        expect(
            CC_SHA512_DIGEST_LENGTH,
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        ) { md in
            message.withUnsafeBytes { CC_SHA512($0.baseAddress, 3, md) } != nil
        } parts: { md in
            var context = CC_SHA512_CTX()
            CC_SHA512_Init(&context)
            message.withUnsafeBytes { _ = CC_SHA512_Update(&context, $0.baseAddress, 3) }
            return CC_SHA512_Final(md, &context)
        }
    }

    @Test("PBKDF2 takes raw pointers for the password, the salt and the key")
    func derivation() {
        var key = Data(count: 20)
        let status = key.withUnsafeMutableBytes { key in
            Data("salt".utf8).withUnsafeBytes { salt in
                Data("password".utf8).withUnsafeBytes { password in
                    CCKeyDerivationPBKDF(
                        CCPBKDFAlgorithm(kCCPBKDF2), password.baseAddress!, password.count, salt.baseAddress!,
                        salt.count,
                        CCPseudoRandomAlgorithm(kCCPRFHmacAlgSHA1), 4_096, key.baseAddress!, key.count)
                }
            }
        }
        // RFC 6070, the third vector.
        #expect(status == Int32(kCCSuccess) && hexadecimal(key) == "4b007901b765489abead49d926f721d065a429c1")
    }

    @Test("nil is the null pointer, as before, and no call is ambiguous")
    func null() {
        #expect(CC_SHA256(nil, 0, nil) == nil)
        #expect(CCKeyDerivationPBKDF(CCPBKDFAlgorithm(kCCPBKDF2), nil, 0, nil, 0, 1, 1, nil, 0) == Int32(kCCParamError))
        let function = CC_SHA256
        var bytes = [UInt8](repeating: 0, count: 32)
        _ = function(nil, 0, &bytes)
        #expect(hexadecimal(Data(bytes)).hasPrefix("e3b0c442"))
    }

    /// Whether `whole` and `parts` write the digest of "abc" to a raw pointer.
    private func expect(
        _ length: Int32, _ digest: String, whole: (UnsafeMutableRawPointer?) -> Bool,
        parts: (UnsafeMutableRawPointer?) -> Int32, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for isWhole in [true, false] {
            var md = Data(count: Int(length))
            let isWritten = md.withUnsafeMutableBytes { isWhole ? whole($0.baseAddress) : parts($0.baseAddress) == 1 }
            #expect(isWritten && hexadecimal(md) == digest, sourceLocation: sourceLocation)
        }
    }
}
