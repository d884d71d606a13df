// SPDX-License-Identifier: Apache-2.0

// Swift passes a raw pointer where an imported C function declares a pointer to bytes (SE-0324). These are the
// functions for callers who rely on it; the others are preferred.

/// Writes the digest of `len` bytes to `md`, ``CC_MD5_DIGEST_LENGTH`` bytes, as `CC_MD5` does.
@_disfavoredOverload
@discardableResult
public func CC_MD5(
    _ data: UnsafeRawPointer?, _ len: CC_LONG, _ md: UnsafeMutableRawPointer?
) -> UnsafeMutablePointer<UInt8>! {
    CC_MD5(data, len, md?.assumingMemoryBound(to: UInt8.self))
}

/// Ends the message and writes its digest to `md`, ``CC_MD5_DIGEST_LENGTH`` bytes.
@_disfavoredOverload
@discardableResult
public func CC_MD5_Final(_ md: UnsafeMutableRawPointer?, _ c: UnsafeMutablePointer<CC_MD5_CTX>?) -> Int32 {
    CC_MD5_Final(md?.assumingMemoryBound(to: UInt8.self), c)
}

/// Writes the digest of `len` bytes to `md`, ``CC_SHA1_DIGEST_LENGTH`` bytes, as `CC_SHA1` does.
@_disfavoredOverload
@discardableResult
public func CC_SHA1(
    _ data: UnsafeRawPointer?, _ len: CC_LONG, _ md: UnsafeMutableRawPointer?
) -> UnsafeMutablePointer<UInt8>! {
    CC_SHA1(data, len, md?.assumingMemoryBound(to: UInt8.self))
}

/// Ends the message and writes its digest to `md`, ``CC_SHA1_DIGEST_LENGTH`` bytes.
@_disfavoredOverload
@discardableResult
public func CC_SHA1_Final(_ md: UnsafeMutableRawPointer?, _ c: UnsafeMutablePointer<CC_SHA1_CTX>?) -> Int32 {
    CC_SHA1_Final(md?.assumingMemoryBound(to: UInt8.self), c)
}

/// Writes the digest of `len` bytes to `md`, ``CC_SHA224_DIGEST_LENGTH`` bytes, as `CC_SHA224` does.
@_disfavoredOverload
@discardableResult
public func CC_SHA224(
    _ data: UnsafeRawPointer?, _ len: CC_LONG, _ md: UnsafeMutableRawPointer?
) -> UnsafeMutablePointer<UInt8>! {
    CC_SHA224(data, len, md?.assumingMemoryBound(to: UInt8.self))
}

/// Ends the message and writes its digest to `md`, ``CC_SHA224_DIGEST_LENGTH`` bytes.
@_disfavoredOverload
@discardableResult
public func CC_SHA224_Final(_ md: UnsafeMutableRawPointer?, _ c: UnsafeMutablePointer<CC_SHA256_CTX>?) -> Int32 {
    CC_SHA224_Final(md?.assumingMemoryBound(to: UInt8.self), c)
}

/// Writes the digest of `len` bytes to `md`, ``CC_SHA256_DIGEST_LENGTH`` bytes, as `CC_SHA256` does.
@_disfavoredOverload
@discardableResult
public func CC_SHA256(
    _ data: UnsafeRawPointer?, _ len: CC_LONG, _ md: UnsafeMutableRawPointer?
) -> UnsafeMutablePointer<UInt8>! {
    CC_SHA256(data, len, md?.assumingMemoryBound(to: UInt8.self))
}

/// Ends the message and writes its digest to `md`, ``CC_SHA256_DIGEST_LENGTH`` bytes.
@_disfavoredOverload
@discardableResult
public func CC_SHA256_Final(_ md: UnsafeMutableRawPointer?, _ c: UnsafeMutablePointer<CC_SHA256_CTX>?) -> Int32 {
    CC_SHA256_Final(md?.assumingMemoryBound(to: UInt8.self), c)
}

/// Writes the digest of `len` bytes to `md`, ``CC_SHA384_DIGEST_LENGTH`` bytes, as `CC_SHA384` does.
@_disfavoredOverload
@discardableResult
public func CC_SHA384(
    _ data: UnsafeRawPointer?, _ len: CC_LONG, _ md: UnsafeMutableRawPointer?
) -> UnsafeMutablePointer<UInt8>! {
    CC_SHA384(data, len, md?.assumingMemoryBound(to: UInt8.self))
}

/// Ends the message and writes its digest to `md`, ``CC_SHA384_DIGEST_LENGTH`` bytes.
@_disfavoredOverload
@discardableResult
public func CC_SHA384_Final(_ md: UnsafeMutableRawPointer?, _ c: UnsafeMutablePointer<CC_SHA512_CTX>?) -> Int32 {
    CC_SHA384_Final(md?.assumingMemoryBound(to: UInt8.self), c)
}

/// Writes the digest of `len` bytes to `md`, ``CC_SHA512_DIGEST_LENGTH`` bytes, as `CC_SHA512` does.
@_disfavoredOverload
@discardableResult
public func CC_SHA512(
    _ data: UnsafeRawPointer?, _ len: CC_LONG, _ md: UnsafeMutableRawPointer?
) -> UnsafeMutablePointer<UInt8>! {
    CC_SHA512(data, len, md?.assumingMemoryBound(to: UInt8.self))
}

/// Ends the message and writes its digest to `md`, ``CC_SHA512_DIGEST_LENGTH`` bytes.
@_disfavoredOverload
@discardableResult
public func CC_SHA512_Final(_ md: UnsafeMutableRawPointer?, _ c: UnsafeMutablePointer<CC_SHA512_CTX>?) -> Int32 {
    CC_SHA512_Final(md?.assumingMemoryBound(to: UInt8.self), c)
}

/// Derives a key of `derivedKeyLen` bytes from a password, as `CCKeyDerivationPBKDF` does for pointers to bytes.
@_disfavoredOverload
@discardableResult
public func CCKeyDerivationPBKDF(
    _ algorithm: CCPBKDFAlgorithm, _ password: UnsafeRawPointer?, _ passwordLen: Int, _ salt: UnsafeRawPointer?,
    _ saltLen: Int, _ prf: CCPseudoRandomAlgorithm, _ rounds: UInt32, _ derivedKey: UnsafeMutableRawPointer?,
    _ derivedKeyLen: Int
) -> Int32 {
    CCKeyDerivationPBKDF(
        algorithm, password?.assumingMemoryBound(to: CChar.self), passwordLen,
        salt?.assumingMemoryBound(to: UInt8.self), saltLen, prf, rounds,
        derivedKey?.assumingMemoryBound(to: UInt8.self), derivedKeyLen)
}

/// Wraps a key under a key encryption key, as `CCSymmetricKeyWrap` does for pointers to bytes.
@_disfavoredOverload
@discardableResult
public func CCSymmetricKeyWrap(
    _ algorithm: CCWrappingAlgorithm, _ iv: UnsafeRawPointer?, _ ivLen: Int, _ kek: UnsafeRawPointer?, _ kekLen: Int,
    _ rawKey: UnsafeRawPointer?, _ rawKeyLen: Int, _ wrappedKey: UnsafeMutableRawPointer?,
    _ wrappedKeyLen: UnsafeMutablePointer<Int>?
) -> Int32 {
    CCSymmetricKeyWrap(
        algorithm, iv?.assumingMemoryBound(to: UInt8.self), ivLen, kek?.assumingMemoryBound(to: UInt8.self), kekLen,
        rawKey?.assumingMemoryBound(to: UInt8.self), rawKeyLen, wrappedKey?.assumingMemoryBound(to: UInt8.self),
        wrappedKeyLen)
}

/// Unwraps a key, as `CCSymmetricKeyUnwrap` does for pointers to bytes.
@_disfavoredOverload
@discardableResult
public func CCSymmetricKeyUnwrap(
    _ algorithm: CCWrappingAlgorithm, _ iv: UnsafeRawPointer?, _ ivLen: Int, _ kek: UnsafeRawPointer?, _ kekLen: Int,
    _ wrappedKey: UnsafeRawPointer?, _ wrappedKeyLen: Int, _ rawKey: UnsafeMutableRawPointer?,
    _ rawKeyLen: UnsafeMutablePointer<Int>?
) -> Int32 {
    CCSymmetricKeyUnwrap(
        algorithm, iv?.assumingMemoryBound(to: UInt8.self), ivLen, kek?.assumingMemoryBound(to: UInt8.self), kekLen,
        wrappedKey?.assumingMemoryBound(to: UInt8.self), wrappedKeyLen, rawKey?.assumingMemoryBound(to: UInt8.self),
        rawKeyLen)
}
