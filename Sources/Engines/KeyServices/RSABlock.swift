// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import SecretMemory

/// The size limits and the padding of one RSA block.
enum RSABlock {
    /// Returns the bytes as a block: a number with leading zeros.
    static func padded(_ input: UnsafeRawBufferPointer, of kind: KeyKind) throws(KeychainError) -> SharedSecret {
        let missing = kind.blockLength - input.count
        guard missing >= 0 else {
            throw .parameter("the input must have at most \(kind.blockLength) bytes, found \(input.count)")
        }
        return SharedSecret(
            SecretBytes(count: kind.blockLength) {
                UnsafeMutableRawBufferPointer(rebasing: $0[missing...]).copyMemory(from: input)
            })
    }

    /// Returns the maximum plaintext length of OAEP, in bytes; negative if the key is too small.
    static func oaepCapacity(_ hash: HashAlgorithm, in kind: KeyKind) -> Int {
        kind.blockLength - 2 * hash.byteCount - 2
    }
}
