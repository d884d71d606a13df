// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import SecretMemory

/// The two forms of an ECDSA signature.
enum ECDSASignature {
    /// Converts a DER `SEQUENCE` to r ‖ s.
    static func rfc4754(_ der: [UInt8], of kind: KeyKind) throws(KeychainError) -> [UInt8] {
        let length = kind.blockLength
        return try der.withContiguousBytes { (bytes) throws(KeychainError) in
            guard let numbers = DERNumbers.all(2, in: bytes), numbers.allSatisfy({ $0.count <= length }) else {
                throw KeychainError(.internalFailure, "the ECDSA signature is malformed")
            }
            return numbers.flatMap { [UInt8](repeating: 0, count: length - $0.count) + $0 }
        }
    }

    /// Converts r ‖ s to a DER `SEQUENCE`; returns nil if the length is wrong.
    static func x962(_ signature: UnsafeRawBufferPointer, of kind: KeyKind) -> [UInt8]? {
        let length = kind.blockLength
        guard signature.count == 2 * length else { return nil }
        let r = UnsafeRawBufferPointer(rebasing: signature.prefix(length))
        let s = UnsafeRawBufferPointer(rebasing: signature.suffix(length))
        return DERNumbers.encoded([r, s]).withUnsafeBytes { Array($0) }
    }
}
