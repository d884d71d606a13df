// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto
internal import SecretMemory

// CommonSymmetricKeywrap.h: keys that are encrypted by keys (RFC 3394).

/// The algorithm that wraps: ``kCCWRAPAES``.
public typealias CCWrappingAlgorithm = UInt32

/// AES key wrap (RFC 3394).
public let kCCWRAPAES = 1

/// The initial value of RFC 3394, section 2.2.3.1: ``CCrfc3394_ivLen`` bytes.
///
/// `nonisolated(unsafe)` is sound because the memory is written once, before the pointer is known,
/// and is never released.
nonisolated(unsafe) public let CCrfc3394_iv: UnsafePointer<UInt8>! = {
    let value = UnsafeMutablePointer<UInt8>.allocate(capacity: CCrfc3394_ivLen)
    value.initialize(repeating: 0xA6, count: CCrfc3394_ivLen)
    return UnsafePointer(value)
}()

/// The length of ``CCrfc3394_iv`` in bytes.
public let CCrfc3394_ivLen = 8

/// Wraps a key under a key encryption key.
///
/// - Parameters:
///   - iv: The initial value: `ivLen` bytes, at least 8; the first 8 count. Null stands for ``CCrfc3394_iv``, as with
///     Apple.
///   - kek: 16, 24 or 32 bytes.
///   - rawKey: A multiple of 8 bytes, at least 16.
///   - wrappedKey: May be `rawKey`.
///   - wrappedKeyLen: The length of the buffer; then the number of bytes written. With
///     `kCCBufferTooSmall` it becomes the number of bytes required, after any other error 0.
/// - Returns: `kCCSuccess`; `kCCBufferTooSmall`; `kCCParamError` for another algorithm, an invalid
///   length and a null pointer.
@discardableResult
public func CCSymmetricKeyWrap(
    _ algorithm: CCWrappingAlgorithm, _ iv: UnsafePointer<UInt8>?, _ ivLen: Int, _ kek: UnsafePointer<UInt8>?,
    _ kekLen: Int, _ rawKey: UnsafePointer<UInt8>?, _ rawKeyLen: Int, _ wrappedKey: UnsafeMutablePointer<UInt8>?,
    _ wrappedKeyLen: UnsafeMutablePointer<Int>?
) -> Int32 {
    filling(wrappedKey, wrappedKeyLen) { (capacity) throws(Refusal) in
        guard let key = UnsafeRawBufferPointer(checking: rawKey, count: rawKeyLen) else { throw Refusal(kCCParamError) }
        let wrapping = try KeyWrapRequest(algorithm, iv, ivLen, kek, kekLen)
        try requireCapacity(capacity, CCSymmetricWrappedSize(algorithm, rawKeyLen))
        guard let wrapped = AESKeyWrap.wrap(key, under: wrapping.key, initial: wrapping.initial) else {
            throw Refusal(kCCParamError)
        }
        return SharedSecret(copying: wrapped)
    }
}

/// Unwraps a key, and verifies that it is the one that was wrapped.
///
/// - Parameters:
///   - iv, kek: As in `CCSymmetricKeyWrap`.
///   - wrappedKey: A multiple of 8 bytes, at least 24.
///   - rawKey: May be `wrappedKey`. It is not written if the key cannot be verified.
///   - rawKeyLen: As `wrappedKeyLen` of `CCSymmetricKeyWrap`.
/// - Returns: As `CCSymmetricKeyWrap`, and `kCCDecodeError` if the key was not wrapped under `kek`
///   with this initial value, or was changed.
@discardableResult
public func CCSymmetricKeyUnwrap(
    _ algorithm: CCWrappingAlgorithm, _ iv: UnsafePointer<UInt8>?, _ ivLen: Int, _ kek: UnsafePointer<UInt8>?,
    _ kekLen: Int, _ wrappedKey: UnsafePointer<UInt8>?, _ wrappedKeyLen: Int, _ rawKey: UnsafeMutablePointer<UInt8>?,
    _ rawKeyLen: UnsafeMutablePointer<Int>?
) -> Int32 {
    filling(rawKey, rawKeyLen) { (capacity) throws(Refusal) in
        guard let wrapped = UnsafeRawBufferPointer(checking: wrappedKey, count: wrappedKeyLen) else {
            throw Refusal(kCCParamError)
        }
        let wrapping = try KeyWrapRequest(algorithm, iv, ivLen, kek, kekLen)
        try requireCapacity(capacity, CCSymmetricUnwrappedSize(algorithm, wrappedKeyLen))
        guard let key = AESKeyWrap.unwrap(wrapped, under: wrapping.key, initial: wrapping.initial) else {
            throw Refusal(kCCDecodeError)
        }
        return key
    }
}

/// Returns the length of the wrapped form of a key of `rawKeyLen` bytes; 0 for a negative length.
public func CCSymmetricWrappedSize(_ algorithm: CCWrappingAlgorithm, _ rawKeyLen: Int) -> Int {
    guard (0...Int.max - AESKeyWrap.overhead).contains(rawKeyLen) else { return 0 }
    return rawKeyLen + AESKeyWrap.overhead
}

/// Returns the length of the key in `wrappedKeyLen` bytes; 0 if there can be none.
public func CCSymmetricUnwrappedSize(_ algorithm: CCWrappingAlgorithm, _ wrappedKeyLen: Int) -> Int {
    wrappedKeyLen >= AESKeyWrap.overhead ? wrappedKeyLen - AESKeyWrap.overhead : 0
}

/// The key encryption key and the initial value, after a check of the caller's parameters.
private struct KeyWrapRequest {
    let key: UnsafeRawBufferPointer
    let initial: UnsafeRawBufferPointer?

    init(
        _ algorithm: CCWrappingAlgorithm, _ iv: UnsafePointer<UInt8>?, _ ivLen: Int, _ kek: UnsafePointer<UInt8>?,
        _ kekLen: Int
    ) throws(Refusal) {
        guard Int(algorithm) == kCCWRAPAES, [16, 24, 32].contains(kekLen),
            let kek = UnsafeRawBufferPointer(checking: kek, count: kekLen), iv == nil || ivLen >= CCrfc3394_ivLen
        else { throw Refusal(kCCParamError) }
        key = kek
        initial = iv.map { UnsafeRawBufferPointer(start: $0, count: CCrfc3394_ivLen) }
    }
}

private func requireCapacity(_ capacity: Int, _ needed: Int) throws(Refusal) {
    guard capacity < needed else { return }
    throw Refusal(.outputTooSmall(needed: needed))
}

/// Copies the result of `body`, and reports its length. `body` receives the capacity of the buffer.
private func filling(
    _ buffer: UnsafeMutablePointer<UInt8>?, _ length: UnsafeMutablePointer<Int>?,
    _ body: (_ capacity: Int) throws(Refusal) -> SharedSecret
) -> Int32 {
    guard let length else { return status(kCCParamError) }
    do throws(Refusal) {
        guard let output = UnsafeMutableRawBufferPointer(checking: buffer, count: length.pointee) else {
            throw Refusal(kCCParamError)
        }
        let result = try body(output.count)
        result.withUnsafeBytes { output.copyMemory(from: $0) }
        length.pointee = result.count
        return status(kCCSuccess)
    } catch {
        length.pointee = error.needed ?? 0
        return error.status
    }
}
