// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto

// CommonKeyDerivation.h: PBKDF2 (RFC 8018, 5.2).

/// The derivation function: ``kCCPBKDF2``.
public typealias CCPBKDFAlgorithm = UInt32

public let kCCPBKDF2 = 2

/// The hash function of the iterated HMAC: one of the constants below.
public typealias CCPseudoRandomAlgorithm = UInt32

public let kCCPRFHmacAlgSHA1 = 1
public let kCCPRFHmacAlgSHA224 = 2
public let kCCPRFHmacAlgSHA256 = 3
public let kCCPRFHmacAlgSHA384 = 4
public let kCCPRFHmacAlgSHA512 = 5

/// Derives a key of `derivedKeyLen` bytes from a password.
///
/// - Parameters:
///   - password: `passwordLen` bytes; a terminating zero byte is not required.
///   - rounds: The number of iterations.
/// - Returns: `kCCSuccess`; `kCCParamError` for an algorithm other than ``kCCPBKDF2``, an unknown
///   pseudo-random function, no iterations or more than `Int32.max`, an empty or null key, or a
///   length that is negative, exceeds `Int32.max`, or is above 0 for a null pointer;
///   `kCCUnspecifiedError` if libcrypto fails.
@discardableResult
public func CCKeyDerivationPBKDF(
    _ algorithm: CCPBKDFAlgorithm, _ password: UnsafePointer<CChar>?, _ passwordLen: Int, _ salt: UnsafePointer<UInt8>?,
    _ saltLen: Int, _ prf: CCPseudoRandomAlgorithm, _ rounds: UInt32, _ derivedKey: UnsafeMutablePointer<UInt8>?,
    _ derivedKeyLen: Int
) -> Int32 {
    guard Int(algorithm) == kCCPBKDF2, let hash = HashFunction(prf), let rounds = Int32(exactly: rounds), rounds > 0,
        let password = UnsafeRawBufferPointer(checking: password, count: passwordLen),
        let salt = UnsafeRawBufferPointer(checking: salt, count: saltLen),
        let key = UnsafeMutableRawBufferPointer(checking: derivedKey, count: derivedKeyLen), !key.isEmpty,
        [passwordLen, saltLen, derivedKeyLen].allSatisfy({ $0 <= Int32.max })
    else { return status(kCCParamError) }
    do {
        try KeyDerivation.pbkdf2(password, salt: salt, hash: hash, rounds: rounds, into: key)
        return status(kCCSuccess)
    } catch {
        return status(kCCUnspecifiedError)
    }
}

/// Returns the number of iterations, at least 10 000, that `CCKeyDerivationPBKDF` performs in about `msec` milliseconds
/// on this machine. The measurement takes about 50 milliseconds.
///
/// - Returns: `UInt32.max` for an algorithm other than ``kCCPBKDF2``, an unknown pseudo-random
///   function, a key length that is not positive, a negative length, or a salt of more than 132
///   bytes (Apple's limit).
public func CCCalibratePBKDF(
    _ algorithm: CCPBKDFAlgorithm, _ passwordLen: Int, _ saltLen: Int, _ prf: CCPseudoRandomAlgorithm,
    _ derivedKeyLen: Int,
    _ msec: UInt32
) -> UInt32 {
    guard Int(algorithm) == kCCPBKDF2, let hash = HashFunction(prf), passwordLen >= 0, (0...132).contains(saltLen),
        derivedKeyLen > 0
    else { return .max }
    // One block is derived. Each block of the key needs the same number of iterations; the time for
    // password and salt is negligible.
    let blocks = Double((derivedKeyLen - 1) / hash.byteCount + 1)
    let rounds = Double(msec) / 1000 * roundsPerSecond(hash) / blocks
    return rounds < 10_000 ? 10_000 : UInt32(min(rounds, Double(Int32.max)))
}

/// Measures the speed of one block's iterations.
private func roundsPerSecond(_ hash: HashFunction) -> Double {
    var key = [UInt8](repeating: 0, count: hash.byteCount)
    var rounds: Int32 = 5_000
    while true {
        let start = ContinuousClock.now
        let isDerived = key.withUnsafeMutableBytes { key in
            let password = UnsafeRawBufferPointer(start: nil, count: 0)
            return (try? KeyDerivation.pbkdf2(password, salt: password, hash: hash, rounds: rounds, into: key)) != nil
        }
        guard isDerived else { return 0 }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        if seconds >= 0.025 || rounds > Int32.max / 4 { return Double(rounds) / max(seconds, 1e-9) }
        rounds *= 2
    }
}

extension HashFunction {
    fileprivate init?(_ function: CCPseudoRandomAlgorithm) {
        switch Int(function) {
        case kCCPRFHmacAlgSHA1: self = .sha1
        case kCCPRFHmacAlgSHA224: self = .sha224
        case kCCPRFHmacAlgSHA256: self = .sha256
        case kCCPRFHmacAlgSHA384: self = .sha384
        case kCCPRFHmacAlgSHA512: self = .sha512
        default: return nil
        }
    }
}
