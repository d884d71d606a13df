// SPDX-License-Identifier: Apache-2.0

import CommonCrypto

/// The hash functions of CommonDigest.h, as arguments of parameterized tests.
enum Digest: String, CaseIterable, Sendable {
    case md5, sha1, sha224, sha256, sha384, sha512

    var length: Int {
        let length =
            switch self {
            case .md5: CC_MD5_DIGEST_LENGTH
            case .sha1: CC_SHA1_DIGEST_LENGTH
            case .sha224: CC_SHA224_DIGEST_LENGTH
            case .sha256: CC_SHA256_DIGEST_LENGTH
            case .sha384: CC_SHA384_DIGEST_LENGTH
            case .sha512: CC_SHA512_DIGEST_LENGTH
            }
        return Int(length)
    }

    /// Returns the digest of a message in one piece.
    func digest(_ message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: length)
        write(message, CC_LONG(message.count), &digest)
        return digest
    }

    /// Calls the function with any arguments; returns whether it returned a pointer.
    @discardableResult
    func write(_ message: UnsafeRawPointer?, _ count: CC_LONG, _ digest: UnsafeMutablePointer<UInt8>?) -> Bool {
        let result: UnsafeMutablePointer<UInt8>? =
            switch self {
            case .md5: CC_MD5(message, count, digest)
            case .sha1: CC_SHA1(message, count, digest)
            case .sha224: CC_SHA224(message, count, digest)
            case .sha256: CC_SHA256(message, count, digest)
            case .sha384: CC_SHA384(message, count, digest)
            case .sha512: CC_SHA512(message, count, digest)
            }
        return result != nil && result == digest
    }

    /// Returns the digest of a message in parts, and the results of the functions.
    func digest(parts: [[UInt8]]) -> (digest: [UInt8], results: Set<Int32>) {
        switch self {
        case .md5: run(CC_MD5_CTX(), parts, CC_MD5_Init, CC_MD5_Update, CC_MD5_Final)
        case .sha1: run(CC_SHA1_CTX(), parts, CC_SHA1_Init, CC_SHA1_Update, CC_SHA1_Final)
        case .sha224: run(CC_SHA256_CTX(), parts, CC_SHA224_Init, CC_SHA224_Update, CC_SHA224_Final)
        case .sha256: run(CC_SHA256_CTX(), parts, CC_SHA256_Init, CC_SHA256_Update, CC_SHA256_Final)
        case .sha384: run(CC_SHA512_CTX(), parts, CC_SHA384_Init, CC_SHA384_Update, CC_SHA384_Final)
        case .sha512: run(CC_SHA512_CTX(), parts, CC_SHA512_Init, CC_SHA512_Update, CC_SHA512_Final)
        }
    }

    private func run<Context>(
        _ context: Context, _ parts: [[UInt8]], _ start: (UnsafeMutablePointer<Context>?) -> Int32,
        _ update: (UnsafeMutablePointer<Context>?, UnsafeRawPointer?, CC_LONG) -> Int32,
        _ finish: (UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Context>?) -> Int32
    ) -> ([UInt8], Set<Int32>) {
        var context = context
        var digest = [UInt8](repeating: 0, count: length)
        var results: Set = [start(&context)]
        for part in parts { results.insert(update(&context, part, CC_LONG(part.count))) }
        results.insert(finish(&digest, &context))
        return (digest, results)
    }
}
