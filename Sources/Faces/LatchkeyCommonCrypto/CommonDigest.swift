// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto

// CommonDigest.h: digests of whole messages.

public typealias CC_LONG = UInt32
public typealias CC_LONG64 = UInt64

// The length of a digest in bytes.
public let CC_MD5_DIGEST_LENGTH: Int32 = 16
public let CC_SHA1_DIGEST_LENGTH: Int32 = 20
public let CC_SHA224_DIGEST_LENGTH: Int32 = 28
public let CC_SHA256_DIGEST_LENGTH: Int32 = 32
public let CC_SHA384_DIGEST_LENGTH: Int32 = 48
public let CC_SHA512_DIGEST_LENGTH: Int32 = 64

// The block size in bytes.
public let CC_MD5_BLOCK_BYTES: Int32 = 64
public let CC_SHA1_BLOCK_BYTES: Int32 = 64
public let CC_SHA224_BLOCK_BYTES: Int32 = 64
public let CC_SHA256_BLOCK_BYTES: Int32 = 64
public let CC_SHA384_BLOCK_BYTES: Int32 = 128
public let CC_SHA512_BLOCK_BYTES: Int32 = 128

/// Writes the MD5 digest (RFC 1321) of `len` bytes to `md`, 16 bytes. MD5 is broken.
///
/// - Returns: `md`; nil if `md` is nil, or if `data` is nil and `len` is not 0. Then nothing is
///   written.
@discardableResult
public func CC_MD5(
    _ data: UnsafeRawPointer?, _ len: CC_LONG, _ md: UnsafeMutablePointer<UInt8>?
) -> UnsafeMutablePointer<UInt8>! {
    digest(.md5, data, len, md)
}

/// Writes the SHA-1 digest (FIPS 180-4) of `len` bytes to `md`, 20 bytes. SHA-1 does not resist
/// collisions.
///
/// - Returns: As `CC_MD5`.
@discardableResult
public func CC_SHA1(
    _ data: UnsafeRawPointer?, _ len: CC_LONG, _ md: UnsafeMutablePointer<UInt8>?
) -> UnsafeMutablePointer<UInt8>! {
    digest(.sha1, data, len, md)
}

/// Writes the SHA-224 digest (FIPS 180-4) of `len` bytes to `md`, 28 bytes.
///
/// - Returns: As `CC_MD5`.
@discardableResult
public func CC_SHA224(
    _ data: UnsafeRawPointer?, _ len: CC_LONG, _ md: UnsafeMutablePointer<UInt8>?
) -> UnsafeMutablePointer<UInt8>! {
    digest(.sha224, data, len, md)
}

/// Writes the SHA-256 digest (FIPS 180-4) of `len` bytes to `md`, 32 bytes.
///
/// - Returns: As `CC_MD5`.
@discardableResult
public func CC_SHA256(
    _ data: UnsafeRawPointer?, _ len: CC_LONG, _ md: UnsafeMutablePointer<UInt8>?
) -> UnsafeMutablePointer<UInt8>! {
    digest(.sha256, data, len, md)
}

/// Writes the SHA-384 digest (FIPS 180-4) of `len` bytes to `md`, 48 bytes.
///
/// - Returns: As `CC_MD5`.
@discardableResult
public func CC_SHA384(
    _ data: UnsafeRawPointer?, _ len: CC_LONG, _ md: UnsafeMutablePointer<UInt8>?
) -> UnsafeMutablePointer<UInt8>! {
    digest(.sha384, data, len, md)
}

/// Writes the SHA-512 digest (FIPS 180-4) of `len` bytes to `md`, 64 bytes.
///
/// - Returns: As `CC_MD5`.
@discardableResult
public func CC_SHA512(
    _ data: UnsafeRawPointer?, _ len: CC_LONG, _ md: UnsafeMutablePointer<UInt8>?
) -> UnsafeMutablePointer<UInt8>! {
    digest(.sha512, data, len, md)
}

private func digest(
    _ function: DigestFunction, _ data: UnsafeRawPointer?, _ length: CC_LONG, _ digest: UnsafeMutablePointer<UInt8>?
) -> UnsafeMutablePointer<UInt8>? {
    guard let digest, let data = UnsafeRawBufferPointer(checking: data, count: Int(length)) else { return nil }
    var state = HashState()
    state.start(function)
    state.update(function, with: data)
    state.finish(function, into: digest)
    return digest
}
