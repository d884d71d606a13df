// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import OpenSSLCrypto
internal import SecretMemory

/// The message of a PKCS #1 v1.5 encryption block. For a block with wrong padding it is a synthetic
/// message that depends only on the key and the ciphertext. So neither the result nor its timing
/// tells whether the padding was right ("implicit rejection", draft-irtf-cfrg-rsa-guidance, section
/// 7).
enum PKCS1Block {
    /// Returns the message of a block, or a synthetic one.
    ///
    /// - Parameters:
    ///   - block: the result of the raw RSA operation.
    ///   - exponent: the private exponent, as long as the modulus.
    static func message(
        in block: UnsafeRawBufferPointer, of ciphertext: UnsafeRawBufferPointer, exponent: UnsafeRawBufferPointer
    ) throws(OpenSSLError) -> SharedSecret {
        let size = block.count
        let key = try wiping(HashFunction.sha256.digest(of: exponent))
        let derivation = key.withUnsafeBytes { wiping(KeyDerivation.hmac(Array(ciphertext), key: $0)) }
        let lengths = bytes(256, "length", derivation)
        let other = bytes(size, "message", derivation)
        // The header has two bytes, the padding at least eight, and one zero ends it.
        let maxLength = UInt32(size - 10)
        let (isGood, start) = checkPadding(block)
        let length = lengths.withUnsafeBytes { selectLength($0, below: maxLength) }
        let synthetic = UInt32(size) - length
        let offset = Int(select(isGood, start, synthetic))
        return other.withUnsafeBytes { other in
            SharedSecret(
                SecretBytes(count: size - offset) { message in
                    let mask = UInt8(truncatingIfNeeded: isGood)
                    for index in offset..<size { message[index - offset] = block[index] & mask | other[index] & ~mask }
                })
        }
    }

    /// Returns whether the padding is right (all ones, or zero), and where the message begins.
    /// Reads every byte, independently of the others.
    private static func checkPadding(_ block: UnsafeRawBufferPointer) -> (isGood: UInt32, start: UInt32) {
        var isGood = isZero(UInt32(block[0])) & isZero(UInt32(block[1]) ^ 2)
        var isFound: UInt32 = 0
        var zero: UInt32 = 0
        for index in 2..<block.count {
            let isHere = isZero(UInt32(block[index])) & ~isFound
            zero = select(isHere, UInt32(index), zero)
            isFound |= isHere
        }
        isGood &= isFound & ~isLess(zero, 10)
        return (isGood, zero + 1)
    }

    /// Returns the last candidate that is less than `maxLength`.
    private static func selectLength(_ candidates: UnsafeRawBufferPointer, below maxLength: UInt32) -> UInt32 {
        let mask = (UInt32(1) << (32 - UInt32(maxLength.leadingZeroBitCount))) - 1
        var length: UInt32 = 0
        for index in stride(from: 0, to: candidates.count, by: 2) {
            let candidate = (UInt32(candidates[index]) << 8 | UInt32(candidates[index + 1])) & mask
            length = select(isLess(candidate, maxLength), candidate, length)
        }
        return length
    }

    /// Returns the concatenation of `HMAC(key, counter ‖ label ‖ bits)` for the counters 0, 1, …
    private static func bytes(_ count: Int, _ label: String, _ key: SharedSecret) -> SharedSecret {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 32)
        let bits = UInt16(count * 8)
        var counter: UInt16 = 0
        while bytes.count < count {
            let input = counter.bigEndianBytes + Array(label.utf8) + bits.bigEndianBytes
            var block = key.withUnsafeBytes { KeyDerivation.hmac(input, key: $0) }
            bytes += block
            block.withUnsafeMutableBytes { SecretBytes.wipe($0) }
            counter += 1
        }
        bytes.removeLast(bytes.count - count)
        return wiping(bytes)
    }

    /// Copies the bytes to secret memory, and wipes the original.
    private static func wiping(_ given: consuming [UInt8]) -> SharedSecret {
        var bytes = given
        return bytes.withUnsafeMutableBytes { memory in
            let secret = SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(memory)))
            SecretBytes.wipe(memory)
            return secret
        }
    }

    // MARK: Without branches: all ones for true, zero for false

    private static func isZero(_ value: UInt32) -> UInt32 { 0 &- ((~value & (value &- 1)) >> 31) }
    private static func isLess(_ one: UInt32, _ other: UInt32) -> UInt32 { 0 &- ((one &- other) >> 31) }
    private static func select(_ mask: UInt32, _ one: UInt32, _ other: UInt32) -> UInt32 { one & mask | other & ~mask }
}
