// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto

// CommonHMAC.h: HMAC (RFC 2104).

/// The hash function of an HMAC: one of the constants below.
public typealias CCHmacAlgorithm = UInt32

public let kCCHmacAlgSHA1 = 0
public let kCCHmacAlgMD5 = 1
public let kCCHmacAlgSHA256 = 2
public let kCCHmacAlgSHA384 = 3
public let kCCHmacAlgSHA512 = 4
public let kCCHmacAlgSHA224 = 5

/// The state of an HMAC between two parts of a message. It is plain bytes, as in C: they can be copied, cleared, and
/// allocated without initialization. Its layout is not Apple's. It is as secret as the key until ``CCHmacFinal(_:_:)``
/// wipes it.
public struct CCHmacContext: BitwiseCopyable, Sendable {
    fileprivate var state = HMACState()

    public init() {}
}

/// Begins a message with a key of `keyLength` bytes.
///
/// With an unknown algorithm, a negative length, or a null key with a length above 0, the context
/// writes no code. Apple's function does not report errors either.
public func CCHmacInit(
    _ ctx: UnsafeMutablePointer<CCHmacContext>?, _ algorithm: CCHmacAlgorithm, _ key: UnsafeRawPointer?,
    _ keyLength: Int
) {
    guard let ctx else { return }
    guard let function = DigestFunction(algorithm), let key = UnsafeRawBufferPointer(checking: key, count: keyLength)
    else {
        return ctx.pointee.state.wipe()
    }
    ctx.pointee.state.start(function, key: key)
}

/// Continues the message with `dataLength` bytes. With a negative length, or a null pointer with a
/// length above 0, the context writes no code.
public func CCHmacUpdate(_ ctx: UnsafeMutablePointer<CCHmacContext>?, _ data: UnsafeRawPointer?, _ dataLength: Int) {
    guard let ctx else { return }
    guard let data = UnsafeRawBufferPointer(checking: data, count: dataLength) else { return ctx.pointee.state.wipe() }
    ctx.pointee.state.update(with: data)
}

/// Ends the message, writes its code to `macOut`, and wipes the context. The code is as long as a
/// digest of the algorithm.
public func CCHmacFinal(_ ctx: UnsafeMutablePointer<CCHmacContext>?, _ macOut: UnsafeMutableRawPointer?) {
    guard let ctx else { return }
    guard let macOut else { return ctx.pointee.state.wipe() }
    ctx.pointee.state.finish(into: macOut.assumingMemoryBound(to: UInt8.self))
}

/// Writes the HMAC of `dataLength` bytes to `macOut`. It is as long as a digest of the algorithm.
///
/// Writes nothing for an unknown algorithm, a negative length, or a null pointer with a length
/// above 0.
public func CCHmac(
    _ algorithm: CCHmacAlgorithm, _ key: UnsafeRawPointer?, _ keyLength: Int, _ data: UnsafeRawPointer?,
    _ dataLength: Int,
    _ macOut: UnsafeMutableRawPointer?
) {
    var context = CCHmacContext()
    CCHmacInit(&context, algorithm, key, keyLength)
    CCHmacUpdate(&context, data, dataLength)
    CCHmacFinal(&context, macOut)
}

extension DigestFunction {
    fileprivate init?(_ algorithm: CCHmacAlgorithm) {
        switch Int(algorithm) {
        case kCCHmacAlgSHA1: self = .sha1
        case kCCHmacAlgMD5: self = .md5
        case kCCHmacAlgSHA256: self = .sha256
        case kCCHmacAlgSHA384: self = .sha384
        case kCCHmacAlgSHA512: self = .sha512
        case kCCHmacAlgSHA224: self = .sha224
        default: return nil
        }
    }
}
