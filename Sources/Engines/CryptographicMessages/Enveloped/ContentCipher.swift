// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel
internal import OpenSSLCrypto
internal import SecretMemory

/// A cipher for the content of a message, in CBC mode (RFC 3370, RFC 3565).
///
/// CBC does not detect changes: a changed ciphertext decrypts to other bytes, or not at all. A
/// recipient that needs to know where a message comes from uses a signature inside.
struct ContentCipher: Hashable, Sendable {
    let identifier: ObjectIdentifier
    let kind: CipherKind

    static let aes128 = ContentCipher(identifier: .cipherAES128, kind: .aes128CBC)
    static let aes192 = ContentCipher(identifier: .cipherAES192, kind: .aes192CBC)
    static let aes256 = ContentCipher(identifier: .cipherAES256, kind: .aes256CBC)
    /// Only for reading.
    static let tripleDES = ContentCipher(identifier: .cipherTripleDES, kind: .tripleDESCBC)

    /// The cipher of a message, and its initialization vector.
    static func of(_ algorithm: AlgorithmIdentifier) throws(KeychainError) -> (ContentCipher, vector: [UInt8]) {
        guard let cipher = [aes128, aes192, aes256, tripleDES].first(where: { $0.identifier == algorithm.algorithm })
        else { throw .unsupportedMessage("the content cipher \(algorithm.algorithm)") }
        var reader = MessageReader(algorithm.parameters ?? [])
        let vector = try reader.required(.octetString, "the initialization vector").content
        try reader.requireEnd("the initialization vector")
        guard vector.count == cipher.kind.blockByteCount else {
            throw .malformedMessage("the initialization vector must have \(cipher.kind.blockByteCount) bytes")
        }
        return (cipher, Array(vector))
    }

    // MARK: Encryption

    func encrypted(
        _ content: [UInt8], key: borrowing SecretBytes, vector: [UInt8]
    ) throws(KeychainError) -> [UInt8] {
        guard let ciphertext = transformed(content[...], .encrypt, key, vector) else {
            throw KeychainError(.internalFailure, "the content cannot be encrypted")
        }
        return ciphertext
    }

    /// - Throws: errSecDecode, the same error for a wrong key and for a changed ciphertext.
    func decrypted(
        _ ciphertext: ArraySlice<UInt8>, key: borrowing SecretBytes, vector: [UInt8]
    ) throws(KeychainError) -> [UInt8] {
        guard !ciphertext.isEmpty, ciphertext.count.isMultiple(of: kind.blockByteCount),
            let content = transformed(ciphertext, .decrypt, key, vector)
        else { throw .notDecrypted }
        return content
    }

    /// Returns the output of the cipher; nil if the padding is wrong.
    private func transformed(
        _ input: ArraySlice<UInt8>, _ direction: BlockCipher.Direction, _ key: borrowing SecretBytes, _ vector: [UInt8]
    ) -> [UInt8]? {
        // Padding adds at most one block.
        var output = [UInt8](repeating: 0, count: input.count + kind.blockByteCount)
        let count = key.withUnsafeBytes { key in
            vector.withUnsafeBytes { vector in
                input.withUnsafeBytes { input in
                    output.withUnsafeMutableBytes { output in
                        Self.run(kind, direction, key: key, vector: vector, input, into: output)
                    }
                }
            }
        }
        guard let count else {
            output.withUnsafeMutableBytes { SecretBytes.wipe($0) }
            return nil
        }
        output.removeLast(output.count - count)
        return output
    }

    private static func run(
        _ kind: CipherKind, _ direction: BlockCipher.Direction, key: UnsafeRawBufferPointer,
        vector: UnsafeRawBufferPointer, _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> Int? {
        do throws(CipherError) {
            let cipher = try BlockCipher(kind, direction, isPadded: true, key: key, vector: vector)
            let written = try cipher.update(with: input, into: output)
            return written + (try cipher.finish(into: UnsafeMutableRawBufferPointer(rebasing: output[written...])))
        } catch {
            return nil
        }
    }
}
