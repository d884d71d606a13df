// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto

// CommonDigest.h: digests of a message in parts.
//
// A context is plain bytes, as in C: it can be copied, cleared, and allocated without
// initialization. A copy is a second, independent context. The layout is not Apple's. Functions
// return 1, or 0 for a null context, a null digest, or a null pointer with a length above 0; then
// nothing is changed or written. After `_Final`, a context must be initialized again.

/// The state of MD5 between two parts of a message.
public struct CC_MD5_CTX: DigestContext, BitwiseCopyable, Sendable {
    var state = HashState()

    public init() {}
}

/// The state of SHA-1 between two parts of a message.
public struct CC_SHA1_CTX: DigestContext, BitwiseCopyable, Sendable {
    var state = HashState()

    public init() {}
}

/// The state of SHA-256 or SHA-224 between two parts of a message.
public struct CC_SHA256_CTX: DigestContext, BitwiseCopyable, Sendable {
    var state = HashState()

    public init() {}
}

/// The state of SHA-512 or SHA-384 between two parts of a message.
public struct CC_SHA512_CTX: DigestContext, BitwiseCopyable, Sendable {
    var state = HashState()

    public init() {}
}

// MARK: MD5

/// Begins a message.
@discardableResult
public func CC_MD5_Init(_ c: UnsafeMutablePointer<CC_MD5_CTX>?) -> Int32 {
    start(.md5, c)
}

/// Continues the message with `len` bytes.
@discardableResult
public func CC_MD5_Update(
    _ c: UnsafeMutablePointer<CC_MD5_CTX>?, _ data: UnsafeRawPointer?, _ len: CC_LONG
) -> Int32 {
    update(.md5, c, data, len)
}

/// Ends the message and writes its digest to `md`, ``CC_MD5_DIGEST_LENGTH`` bytes.
@discardableResult
public func CC_MD5_Final(_ md: UnsafeMutablePointer<UInt8>?, _ c: UnsafeMutablePointer<CC_MD5_CTX>?) -> Int32 {
    finish(.md5, c, md)
}

// MARK: SHA-1

/// Begins a message.
@discardableResult
public func CC_SHA1_Init(_ c: UnsafeMutablePointer<CC_SHA1_CTX>?) -> Int32 {
    start(.sha1, c)
}

/// Continues the message with `len` bytes.
@discardableResult
public func CC_SHA1_Update(
    _ c: UnsafeMutablePointer<CC_SHA1_CTX>?, _ data: UnsafeRawPointer?, _ len: CC_LONG
) -> Int32 {
    update(.sha1, c, data, len)
}

/// Ends the message and writes its digest to `md`, ``CC_SHA1_DIGEST_LENGTH`` bytes.
@discardableResult
public func CC_SHA1_Final(_ md: UnsafeMutablePointer<UInt8>?, _ c: UnsafeMutablePointer<CC_SHA1_CTX>?) -> Int32 {
    finish(.sha1, c, md)
}

// MARK: SHA-224

/// Begins a message.
@discardableResult
public func CC_SHA224_Init(_ c: UnsafeMutablePointer<CC_SHA256_CTX>?) -> Int32 {
    start(.sha224, c)
}

/// Continues the message with `len` bytes.
@discardableResult
public func CC_SHA224_Update(
    _ c: UnsafeMutablePointer<CC_SHA256_CTX>?, _ data: UnsafeRawPointer?, _ len: CC_LONG
) -> Int32 {
    update(.sha224, c, data, len)
}

/// Ends the message and writes its digest to `md`, ``CC_SHA224_DIGEST_LENGTH`` bytes.
@discardableResult
public func CC_SHA224_Final(_ md: UnsafeMutablePointer<UInt8>?, _ c: UnsafeMutablePointer<CC_SHA256_CTX>?) -> Int32 {
    finish(.sha224, c, md)
}

// MARK: SHA-256

/// Begins a message.
@discardableResult
public func CC_SHA256_Init(_ c: UnsafeMutablePointer<CC_SHA256_CTX>?) -> Int32 {
    start(.sha256, c)
}

/// Continues the message with `len` bytes.
@discardableResult
public func CC_SHA256_Update(
    _ c: UnsafeMutablePointer<CC_SHA256_CTX>?, _ data: UnsafeRawPointer?, _ len: CC_LONG
) -> Int32 {
    update(.sha256, c, data, len)
}

/// Ends the message and writes its digest to `md`, ``CC_SHA256_DIGEST_LENGTH`` bytes.
@discardableResult
public func CC_SHA256_Final(_ md: UnsafeMutablePointer<UInt8>?, _ c: UnsafeMutablePointer<CC_SHA256_CTX>?) -> Int32 {
    finish(.sha256, c, md)
}

// MARK: SHA-384

/// Begins a message.
@discardableResult
public func CC_SHA384_Init(_ c: UnsafeMutablePointer<CC_SHA512_CTX>?) -> Int32 {
    start(.sha384, c)
}

/// Continues the message with `len` bytes.
@discardableResult
public func CC_SHA384_Update(
    _ c: UnsafeMutablePointer<CC_SHA512_CTX>?, _ data: UnsafeRawPointer?, _ len: CC_LONG
) -> Int32 {
    update(.sha384, c, data, len)
}

/// Ends the message and writes its digest to `md`, ``CC_SHA384_DIGEST_LENGTH`` bytes.
@discardableResult
public func CC_SHA384_Final(_ md: UnsafeMutablePointer<UInt8>?, _ c: UnsafeMutablePointer<CC_SHA512_CTX>?) -> Int32 {
    finish(.sha384, c, md)
}

// MARK: SHA-512

/// Begins a message.
@discardableResult
public func CC_SHA512_Init(_ c: UnsafeMutablePointer<CC_SHA512_CTX>?) -> Int32 {
    start(.sha512, c)
}

/// Continues the message with `len` bytes.
@discardableResult
public func CC_SHA512_Update(
    _ c: UnsafeMutablePointer<CC_SHA512_CTX>?, _ data: UnsafeRawPointer?, _ len: CC_LONG
) -> Int32 {
    update(.sha512, c, data, len)
}

/// Ends the message and writes its digest to `md`, ``CC_SHA512_DIGEST_LENGTH`` bytes.
@discardableResult
public func CC_SHA512_Final(_ md: UnsafeMutablePointer<UInt8>?, _ c: UnsafeMutablePointer<CC_SHA512_CTX>?) -> Int32 {
    finish(.sha512, c, md)
}

// MARK: Shared

/// The common part of the contexts. They are separate types, as in C, so that the compiler
/// distinguishes them.
protocol DigestContext {
    var state: HashState { get set }
}

private func start(_ function: DigestFunction, _ context: UnsafeMutablePointer<some DigestContext>?) -> Int32 {
    guard let context else { return 0 }
    context.pointee.state.start(function)
    return 1
}

private func update(
    _ function: DigestFunction, _ context: UnsafeMutablePointer<some DigestContext>?, _ data: UnsafeRawPointer?,
    _ length: CC_LONG
) -> Int32 {
    guard let context, let data = UnsafeRawBufferPointer(checking: data, count: Int(length)) else { return 0 }
    context.pointee.state.update(function, with: data)
    return 1
}

private func finish(
    _ function: DigestFunction, _ context: UnsafeMutablePointer<some DigestContext>?,
    _ digest: UnsafeMutablePointer<UInt8>?
) -> Int32 {
    guard let context, let digest else { return 0 }
    context.pointee.state.finish(function, into: digest)
    return 1
}
