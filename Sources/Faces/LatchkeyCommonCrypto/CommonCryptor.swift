// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto

// CommonCryptor.h: a message in parts.

/// A cryptographic context, made by ``CCCryptorCreate(_:_:_:_:_:_:_:)`` and freed by
/// ``CCCryptorRelease(_:)``. Not for several threads at a time.
public typealias CCCryptorRef = OpaquePointer

/// Makes a context that encrypts or decrypts with CBC, or ECB where `options` holds
/// ``kCCOptionECBMode``.
///
/// - Parameters:
///   - key: `keyLength` bytes: 16, 24 or 32 for AES, 8 for DES, 24 for Triple DES.
///   - iv: One block; zeros where it is nil. ECB ignores it.
///   - cryptorRef: The context; nil with any other result than `kCCSuccess`.
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

/// Makes a context for any of the modes of SP 800-38A.
///
/// - Parameters:
///   - padding: Of ECB and CBC; the other modes ignore it.
///   - iv: One block, the first counter of CTR; zeros where it is nil. ECB ignores it.
///   - key: As in ``CCCryptorCreate(_:_:_:_:_:_:_:)``.
///   - tweak, tweakLength, numRounds, options: Ignored; no mode here has any.
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

/// Encrypts or decrypts `dataInLength` bytes. A block cipher writes whole blocks and holds the
/// rest; when it decrypts with padding it holds the last whole block as well.
///
/// - Parameters:
///   - dataOut: May be `dataIn` with a stream cipher. With ECB and CBC, what is held is written
///     over input that is not read yet, as with Apple.
///   - dataOutMoved: The number of bytes written; with `kCCBufferTooSmall` the number that is
///     needed.
/// - Returns: `kCCSuccess`; `kCCBufferTooSmall`, and the call can be repeated; `kCCParamError` for
///   a null context, a negative length, or a null pointer to more than 0 bytes;
///   `kCCCallSequenceError` after ``CCCryptorFinal(_:_:_:_:)``.
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

/// Ends the message: writes the padded last block, or what the last block holds before its padding.
/// Nothing without padding.
///
/// Afterwards a context with padding needs ``CCCryptorReset(_:_:)``, unless its mode is ECB.
///
/// - Returns: `kCCSuccess`; `kCCBufferTooSmall`, with the number of bytes needed in `dataOutMoved`,
///   and the call can be repeated; `kCCAlignmentError` where the message is no multiple of the
///   block size and has to be; `kCCDecodeError` for wrong padding; `kCCParamError`;
///   `kCCCallSequenceError` after the end.
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

/// The number of bytes that ``CCCryptorUpdate(_:_:_:_:_:_:)`` writes for `inputLength` bytes; where
/// `final` is true, at most so many as it and ``CCCryptorFinal(_:_:_:_:)`` write together. 0 for a
/// null context or a length that is negative or too large.
public func CCCryptorGetOutputLength(_ cryptorRef: CCCryptorRef?, _ inputLength: Int, _ final: Bool) -> Int {
    cryptorRef?.cipher.outputCount(for: inputLength, isFinal: final) ?? 0
}

/// Begins another message under the same key. What was held of the one before is lost.
///
/// - Parameter iv: One block; zeros where it is nil.
/// - Returns: `kCCSuccess`; `kCCParamError` for a null context; `kCCUnimplemented` for other modes
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

/// Frees a context and wipes its key. It must not be used afterwards, as with Apple's.
///
/// - Returns: `kCCSuccess`; `kCCParamError` for a null context.
@discardableResult
public func CCCryptorRelease(_ cryptorRef: CCCryptorRef?) -> CCCryptorStatus {
    guard let cryptorRef else { return status(kCCParamError) }
    cryptorRef.freeCipher()
    return status(kCCSuccess)
}
