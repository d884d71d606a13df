// SPDX-License-Identifier: Apache-2.0

/// The result of a function of CommonCrypto: 0 or one of the codes below (CommonCryptoError.h).
public typealias CCStatus = Int32

/// The result of a function of CommonCryptor.h.
public typealias CCCryptorStatus = Int32

public let kCCSuccess = 0
/// An illegal parameter value.
public let kCCParamError = -4300
/// The output buffer is too small.
public let kCCBufferTooSmall = -4301
public let kCCMemoryFailure = -4302
/// The length of the input must be a multiple of the block size.
public let kCCAlignmentError = -4303
/// The input did not decode: a wrong key, or a ciphertext that was changed.
public let kCCDecodeError = -4304
/// The algorithm or mode is unsupported.
public let kCCUnimplemented = -4305
public let kCCOverflow = -4306
public let kCCRNGFailure = -4307
public let kCCUnspecifiedError = -4308
/// The function was called at the wrong point of a sequence.
public let kCCCallSequenceError = -4309
/// The algorithm does not support the key size.
public let kCCKeySizeError = -4310
public let kCCInvalidKey = -4311

/// Returns a code with the type of the functions' results. Codes are `Int`, because Swift imports
/// C's enumerations as `Int`; results are `Int32`.
func status(_ code: Int) -> CCCryptorStatus {
    CCCryptorStatus(truncatingIfNeeded: code)
}
