// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto

// CommonCryptor.h: encryption and decryption of a message in parts.

/// A cryptographic context, created by ``CCCryptorCreate(_:_:_:_:_:_:_:)`` and freed by
/// ``CCCryptorRelease(_:)``. It must not be used by several threads at once.
public typealias CCCryptorRef = OpaquePointer

/// Creates a context for encryption or decryption. The mode is CBC, or ECB if `options` contains
/// ``kCCOptionECBMode``.
///
/// - Parameters:
///   - key: `keyLength` bytes: 16, 24 or 32 for AES, 8 for DES, 24 for Triple DES.
///   - iv: One block; nil stands for zeros. ECB ignores it.
///   - cryptorRef: Receives the context; nil unless the result is `kCCSuccess`.
/// - Returns: `kCCSuccess`, `kCCParamError`, `kCCKeySizeError`; `kCCUnimplemented` for CAST, RC4,
///   RC2 and Blowfish.
@discardableResult
public func CCCryptorCreate(
    _ op: CCOperation, _ alg: CCAlgorithm, _ options: CCOptions, _ key: UnsafeRawPointer?, _ keyLength: Int,
    _ iv: UnsafeRawPointer?, _ cryptorRef: UnsafeMutablePointer<CCCryptorRef?>?
) -> CCCryptorStatus {
    let mode = options & CCOptions(kCCOptionECBMode) != 0 ? kCCModeECB : kCCModeCBC
    let padding = options & CCOptions(kCCOptionPKCS7Padding)
    return CCCryptorCreateWithMode(op, CCMode(mode), alg, padding, iv, key, keyLength, nil, 0, 0, 0, cryptorRef)
}

/// Creates a context for one of the modes of SP 800-38A.
///
/// - Parameters:
///   - padding: Used by ECB and CBC; the other modes ignore it.
///   - iv: One block, the first counter of CTR; nil stands for zeros. ECB ignores it.
///   - key: As in ``CCCryptorCreate(_:_:_:_:_:_:_:)``.
///   - tweak, tweakLength, numRounds, options: Ignored, because no supported mode uses them.
/// - Returns: As ``CCCryptorCreate(_:_:_:_:_:_:_:)``; `kCCUnimplemented` also for other modes, and
///   for CTR with DES and Triple DES.
@discardableResult
public func CCCryptorCreateWithMode(
    _ op: CCOperation, _ mode: CCMode, _ alg: CCAlgorithm, _ padding: CCPadding, _ iv: UnsafeRawPointer?,
    _ key: UnsafeRawPointer?, _ keyLength: Int, _ tweak: UnsafeRawPointer?, _ tweakLength: Int, _ numRounds: Int32,
    _ options: CCModeOptions, _ cryptorRef: UnsafeMutablePointer<CCCryptorRef?>?
) -> CCCryptorStatus {
    guard let cryptorRef else { return status(kCCParamError) }
    cryptorRef.pointee = nil
    guard let key else { return status(kCCParamError) }
    do throws(Refusal) {
        let request = try CipherRequest(op, mode, alg, padding, keyByteCount: keyLength)
        let key = UnsafeRawBufferPointer(start: key, count: request.kind.keyByteCount)
        cryptorRef.pointee = CCCryptorRef(owning: try BlockCipher(request, key: key, vector: iv))
        return status(kCCSuccess)
    } catch {
        return error.status
    }
}

/// Encrypts or decrypts `dataInLength` bytes. A block cipher writes whole blocks and keeps the
/// rest. When it decrypts with padding it also keeps the last whole block.
///
/// - Parameters:
///   - dataOut: May be `dataIn` with a stream cipher. With ECB and CBC, the bytes kept from earlier
///     calls are written over input that is not read yet, as with Apple.
///   - dataOutMoved: The number of bytes written; with `kCCBufferTooSmall` the number of bytes
///     required.
/// - Returns: `kCCSuccess`; `kCCBufferTooSmall` (the call can be repeated);
///   `kCCParamError` for a null context, a negative length, or a null pointer with a length above 0; `kCCCallSequenceError`
///   after ``CCCryptorFinal(_:_:_:_:)``.
@discardableResult
public func CCCryptorUpdate(
    _ cryptorRef: CCCryptorRef?, _ dataIn: UnsafeRawPointer?, _ dataInLength: Int, _ dataOut: UnsafeMutableRawPointer?,
    _ dataOutAvailable: Int, _ dataOutMoved: UnsafeMutablePointer<Int>?
) -> CCCryptorStatus {
    moving(dataOutMoved) { () throws(Refusal) in
        guard let cipher = cryptorRef?.cipher,
            let input = UnsafeRawBufferPointer(checking: dataIn, count: dataInLength),
            let output = UnsafeMutableRawBufferPointer(checking: dataOut, count: dataOutAvailable)
        else { throw Refusal(kCCParamError) }
        return try cipher.update(input, output)
    }
}

/// Ends the message. Encryption writes the padded last block; decryption writes the last block
/// without its padding. Without padding nothing is written.
///
/// Afterwards a context with padding needs ``CCCryptorReset(_:_:)``, unless its mode is ECB.
///
/// - Returns: `kCCSuccess`; `kCCBufferTooSmall`, with the number of bytes required in
///   `dataOutMoved` (the call can be repeated); `kCCAlignmentError` if the length of the message must be a multiple of
///   the block size and is not; `kCCDecodeError` for wrong padding; `kCCParamError`; `kCCCallSequenceError` after the
///   end.
@discardableResult
public func CCCryptorFinal(
    _ cryptorRef: CCCryptorRef?, _ dataOut: UnsafeMutableRawPointer?, _ dataOutAvailable: Int,
    _ dataOutMoved: UnsafeMutablePointer<Int>?
) -> CCCryptorStatus {
    moving(dataOutMoved) { () throws(Refusal) in
        guard let cipher = cryptorRef?.cipher,
            let output = UnsafeMutableRawBufferPointer(checking: dataOut, count: dataOutAvailable)
        else { throw Refusal(kCCParamError) }
        return try cipher.finish(output)
    }
}

/// Returns the number of bytes that ``CCCryptorUpdate(_:_:_:_:_:_:)`` writes for `inputLength`
/// bytes. If `final` is true, returns the maximum that this function and
/// ``CCCryptorFinal(_:_:_:_:)`` write together. Returns 0 for a null context or a length that is
/// negative or too large.
public func CCCryptorGetOutputLength(_ cryptorRef: CCCryptorRef?, _ inputLength: Int, _ final: Bool) -> Int {
    cryptorRef?.cipher.outputCount(for: inputLength, isFinal: final) ?? 0
}

/// Begins another message with the same key. The bytes kept from the previous message are
/// discarded.
///
/// - Parameter iv: One block; nil stands for zeros.
/// - Returns: `kCCSuccess`; `kCCParamError` for a null context; `kCCUnimplemented` for modes other
///   than CBC and CTR.
@discardableResult
public func CCCryptorReset(_ cryptorRef: CCCryptorRef?, _ iv: UnsafeRawPointer?) -> CCCryptorStatus {
    guard let cipher = cryptorRef?.cipher else { return status(kCCParamError) }
    guard cipher.kind.mode == .cbc || cipher.kind.mode == .ctr else { return status(kCCUnimplemented) }
    do throws(CipherError) {
        try cipher.restart(vector: iv.map { UnsafeRawBufferPointer(start: $0, count: cipher.kind.blockByteCount) })
        return status(kCCSuccess)
    } catch {
        return Refusal(error).status
    }
}

/// Frees a context and wipes its key. The context must not be used afterwards, as with Apple.
///
/// - Returns: `kCCSuccess`, also for a null context.
@discardableResult
public func CCCryptorRelease(_ cryptorRef: CCCryptorRef?) -> CCCryptorStatus {
    cryptorRef?.freeCipher()
    return status(kCCSuccess)
}
