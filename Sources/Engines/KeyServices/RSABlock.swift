// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import SecretMemory

/// What fits into one block of RSA.
enum RSABlock {
    /// The bytes as a block: a number, with zeros in front.
    static func padded(_ input: UnsafeRawBufferPointer, of kind: KeyKind) throws(KeychainError) -> SharedSecret {
        let missing = kind.blockLength - input.count
        guard missing >= 0 else {
            throw .parameter("a block of this key has \(kind.blockLength) bytes, and \(input.count) were given")
        }
        return SharedSecret(
            SecretBytes(count: kind.blockLength) {
                UnsafeMutableRawBufferPointer(rebasing: $0[missing...]).copyMemory(from: input)
            })
    }

    /// How many bytes OAEP leaves of a block; negative where none.
    static func oaepCapacity(_ hash: HashAlgorithm, in kind: KeyKind) -> Int {
        kind.blockLength - 2 * hash.byteCount - 2
    }
}
