// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto

/// Encrypts or decrypts a message in one call. The mode is CBC, or ECB if `options` contains
/// ``kCCOptionECBMode``.
///
/// - Parameters:
///   - key, iv: As in ``CCCryptorCreate(_:_:_:_:_:_:_:)``.
///   - dataOut: May be `dataIn`.
///   - dataOutAvailable: Without padding at least the length of the input. With padding and
///     encryption, at least the length that padding extends the input to; padding always adds at
///     least one byte.
///   - dataOutMoved: The number of bytes written; with `kCCBufferTooSmall` the number of bytes
///     required; otherwise 0.
/// - Returns: `kCCSuccess`; `kCCBufferTooSmall`, with nothing written;
///   `kCCAlignmentError` if the length of the input must be a multiple of the block size and is not; `kCCDecodeError`
///   for wrong padding; `kCCParamError`, `kCCKeySizeError`, `kCCUnimplemented`.
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
    /// Processes the whole message. The output must have the capacity for the largest possible
    /// result, even if removing the padding makes the result shorter.
    fileprivate func run(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) throws(Refusal)
        -> Int
    {
        guard let needed = outputCount(for: input.count, isFinal: true) else { throw Refusal(kCCParamError) }
        guard needed <= output.count else { throw Refusal(.outputTooSmall(needed: needed)) }
        let count = try update(input, output)
        return count + (try finish(UnsafeMutableRawBufferPointer(rebasing: output.dropFirst(count))))
    }
}
