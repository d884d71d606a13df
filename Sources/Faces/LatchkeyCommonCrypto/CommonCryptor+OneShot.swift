// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto

/// Encrypts or decrypts a message in one call, with CBC, or ECB where `options` holds
/// ``kCCOptionECBMode``.
///
/// - Parameters:
///   - key, iv: As in ``CCCryptorCreate(_:_:_:_:_:_:_:)``.
///   - dataOut: May be `dataIn`.
///   - dataOutAvailable: With padding, the length of the input and, to encrypt, the rest of a
///     block, of which there is always one.
///   - dataOutMoved: The number of bytes written; with `kCCBufferTooSmall` the number that is
///     needed; else 0.
/// - Returns: `kCCSuccess`; `kCCBufferTooSmall`, and nothing is written; `kCCAlignmentError` where
///   the input is no multiple of the block size and has to be; `kCCDecodeError` for wrong padding;
///   `kCCParamError`, `kCCKeySizeError`, `kCCUnimplemented`.
@discardableResult
public func CCCrypt(
    _ op: CCOperation, _ alg: CCAlgorithm, _ options: CCOptions, _ key: UnsafeRawPointer?, _ keyLength: Int,
    _ iv: UnsafeRawPointer?,
    _ dataIn: UnsafeRawPointer?, _ dataInLength: Int, _ dataOut: UnsafeMutableRawPointer?, _ dataOutAvailable: Int,
    _ dataOutMoved: UnsafeMutablePointer<Int>?
) -> CCCryptorStatus {
    moving(dataOutMoved) { () throws(Refusal) in
        let mode = options & CCOptions(kCCOptionECBMode) != 0 ? kCCModeECB : kCCModeCBC
        let padding = options & CCOptions(kCCOptionPKCS7Padding)
        guard let key, let input = UnsafeRawBufferPointer(checking: dataIn, count: dataInLength),
            let output = UnsafeMutableRawBufferPointer(checking: dataOut, count: dataOutAvailable)
        else { throw Refusal(kCCParamError) }
        let request = try CipherRequest(op, CCMode(mode), alg, padding, keyByteCount: keyLength)
        let cipher = try BlockCipher(
            request, key: UnsafeRawBufferPointer(start: key, count: request.kind.keyByteCount), vector: iv)
        return try cipher.run(input, output)
    }
}

extension BlockCipher {
    /// The whole message. Its output has to have room for the largest result, also where padding
    /// will make it shorter.
    fileprivate func run(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) throws(Refusal)
        -> Int
    {
        guard let needed = outputCount(for: input.count, isFinal: true) else { throw Refusal(kCCParamError) }
        guard needed <= output.count else { throw Refusal(.outputTooSmall(needed: needed)) }
        let count = try update(input, output)
        return count + (try finish(UnsafeMutableRawBufferPointer(rebasing: output.dropFirst(count))))
    }
}
