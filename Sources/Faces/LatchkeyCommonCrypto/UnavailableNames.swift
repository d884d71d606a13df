// SPDX-License-Identifier: Apache-2.0

// Names of Apple's headers that do not work here. The compiler says the reason where a program uses one.

// MARK: CommonDigest.h

/// The length of a digest in bytes.
public let CC_MD2_DIGEST_LENGTH: Int32 = 16
/// The length of a digest in bytes.
public let CC_MD4_DIGEST_LENGTH: Int32 = 16
/// The block size in bytes.
public let CC_MD2_BLOCK_BYTES: Int32 = 64
/// The block size in bytes.
public let CC_MD4_BLOCK_BYTES: Int32 = 64

/// A digest with MD2; unavailable.
@available(*, unavailable, message: "MD2 is broken, and libcrypto does not have it; use CC_SHA256")
public struct CC_MD2_CTX {
    public init() {}
}

@available(*, unavailable, message: "MD2 is broken, and libcrypto does not have it; use CC_SHA256_Init")
public func CC_MD2_Init(_ c: UnsafeMutablePointer<CC_MD2_CTX>?) -> Int32 { 0 }

@available(*, unavailable, message: "MD2 is broken, and libcrypto does not have it; use CC_SHA256_Update")
public func CC_MD2_Update(
    _ c: UnsafeMutablePointer<CC_MD2_CTX>?, _ data: UnsafeRawPointer?, _ len: CC_LONG
) -> Int32 { 0 }

@available(*, unavailable, message: "MD2 is broken, and libcrypto does not have it; use CC_SHA256_Final")
public func CC_MD2_Final(_ md: UnsafeMutablePointer<UInt8>?, _ c: UnsafeMutablePointer<CC_MD2_CTX>?) -> Int32 { 0 }

@available(*, unavailable, message: "MD2 is broken, and libcrypto does not have it; use CC_SHA256")
public func CC_MD2(
    _ data: UnsafeRawPointer?, _ len: CC_LONG, _ md: UnsafeMutablePointer<UInt8>?
) -> UnsafeMutablePointer<UInt8>! { nil }

/// A digest with MD4; unavailable.
@available(*, unavailable, message: "MD4 is broken, and libcrypto 3 does not have it by default; use CC_SHA256")
public struct CC_MD4_CTX {
    public init() {}
}

@available(*, unavailable, message: "MD4 is broken, and libcrypto 3 does not have it by default; use CC_SHA256_Init")
public func CC_MD4_Init(_ c: UnsafeMutablePointer<CC_MD4_CTX>?) -> Int32 { 0 }

@available(*, unavailable, message: "MD4 is broken, and libcrypto 3 does not have it by default; use CC_SHA256_Update")
public func CC_MD4_Update(
    _ c: UnsafeMutablePointer<CC_MD4_CTX>?, _ data: UnsafeRawPointer?, _ len: CC_LONG
) -> Int32 { 0 }

@available(*, unavailable, message: "MD4 is broken, and libcrypto 3 does not have it by default; use CC_SHA256_Final")
public func CC_MD4_Final(_ md: UnsafeMutablePointer<UInt8>?, _ c: UnsafeMutablePointer<CC_MD4_CTX>?) -> Int32 { 0 }

@available(*, unavailable, message: "MD4 is broken, and libcrypto 3 does not have it by default; use CC_SHA256")
public func CC_MD4(
    _ data: UnsafeRawPointer?, _ len: CC_LONG, _ md: UnsafeMutablePointer<UInt8>?
) -> UnsafeMutablePointer<UInt8>! { nil }

// MARK: CommonHMAC.h

@available(*, unavailable, message: "the layout of a context is not Apple's; use MemoryLayout<CCHmacContext>.size")
public var CC_HMAC_CONTEXT_SIZE: Int32 { 0 }

// MARK: CommonCryptor.h

@available(*, unavailable, message: "a context is an object here, not memory of the caller; use CCCryptorCreate")
public func CCCryptorCreateFromData(
    _ op: CCOperation, _ alg: CCAlgorithm, _ options: CCOptions, _ key: UnsafeRawPointer?, _ keyLength: Int,
    _ iv: UnsafeRawPointer?, _ data: UnsafeRawPointer?, _ dataLength: Int,
    _ cryptorRef: UnsafeMutablePointer<CCCryptorRef?>?, _ dataUsed: UnsafeMutablePointer<Int>?
) -> CCCryptorStatus { status(kCCUnimplemented) }

@available(*, unavailable, message: "a context has no fixed size; use CCCryptorCreate")
public var kCCContextSizeAES128: Int { 0 }
@available(*, unavailable, message: "a context has no fixed size; use CCCryptorCreate")
public var kCCContextSizeDES: Int { 0 }
@available(*, unavailable, message: "a context has no fixed size; use CCCryptorCreate")
public var kCCContextSize3DES: Int { 0 }
@available(*, unavailable, message: "a context has no fixed size; use CCCryptorCreate")
public var kCCContextSizeCAST: Int { 0 }
@available(*, unavailable, message: "a context has no fixed size; use CCCryptorCreate")
public var kCCContextSizeRC4: Int { 0 }
