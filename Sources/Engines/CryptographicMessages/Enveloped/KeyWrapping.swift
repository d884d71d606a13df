// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeyServices
internal import KeychainModel
internal import LinuxSystem
internal import OpenSSLCrypto
internal import SecretMemory

/// The wrapping of a content key that is agreed on over an elliptic curve: a key derivation and an AES key wrap (RFC
/// 5753, section 7.1; RFC 3565).
struct KeyWrapping: Hashable, Sendable {
    let hash: HashAlgorithm
    /// The size of the wrapping key in bytes.
    let keyByteCount: Int

    /// `dhSinglePass-stdDH-sha256kdf-scheme` with `id-aes256-wrap`.
    static let standard = KeyWrapping(hash: .sha256, keyByteCount: 32)

    private init(hash: HashAlgorithm, keyByteCount: Int) { (self.hash, self.keyByteCount) = (hash, keyByteCount) }

    /// - Throws: errSecUnimplemented for other schemes.
    init(_ algorithm: AlgorithmIdentifier) throws(KeychainError) {
        guard let hash = Self.hashes[algorithm.algorithm] else {
            throw .unsupportedMessage("the key agreement \(algorithm.algorithm)")
        }
        var reader = MessageReader(algorithm.parameters ?? [])
        let wrap = try reader.algorithm("KeyWrapAlgorithm")
        try reader.requireEnd("KeyWrapAlgorithm")
        guard let count = Self.sizes[wrap.algorithm], wrap.hasNoParameters else {
            throw .unsupportedMessage("the key wrap \(wrap.algorithm)")
        }
        self.init(hash: hash, keyByteCount: count)
        wrapIdentifier = wrap
    }

    /// The wrap algorithm as it was read: the derivation covers its bytes.
    private var wrapIdentifier: AlgorithmIdentifier?

    // MARK: Keys

    /// The wrapping key that two keys agree on.
    ///
    /// - Parameter material: the bytes that the sender added (`ukm`).
    func wrappingKey(from sharedSecret: SharedSecret, material: [UInt8]?) throws(KeychainError) -> SharedSecret {
        let info = sharedInfo(material)
        do throws(OpenSSLError) {
            return try sharedSecret.withUnsafeBytes { (secret) throws(OpenSSLError) in
                SharedSecret(
                    try SecretBytes(count: keyByteCount) { (output) throws(OpenSSLError) in
                        try KeyDerivation.x963(secret, info: info, hash: hash.function, into: output)
                    })
            }
        } catch {
            throw KeychainError(.internalFailure, error.message)
        }
    }

    /// `ECC-CMS-SharedInfo` (RFC 5753, section 7.2).
    private func sharedInfo(_ material: [UInt8]?) -> [UInt8] {
        let bits = UInt32(truncatingIfNeeded: keyByteCount << 3)
        return MessageWriter.sequence(
            wrapAlgorithm, material.map { MessageWriter.explicit(0, MessageWriter.octets($0)) } ?? [],
            MessageWriter.explicit(2, MessageWriter.octets(bits.bigEndianBytes)))
    }

    // MARK: Identifiers

    /// The `AlgorithmIdentifier` of the key agreement, with the wrap as its parameters.
    var algorithm: [UInt8] {
        let scheme = Self.hashes.first { $0.value == hash }?.key ?? .agreementSHA256
        return MessageWriter.algorithm(scheme, wrapAlgorithm)
    }

    private var wrapAlgorithm: [UInt8] {
        if let wrapIdentifier {
            return MessageWriter.algorithm(wrapIdentifier.algorithm, Array(wrapIdentifier.parameters ?? []))
        }
        return MessageWriter.algorithm(Self.sizes.first { $0.value == keyByteCount }?.key ?? .wrapAES256)
    }

    /// SHA-1 is not weak here: a key derivation needs no collision resistance.
    private static let hashes: [ObjectIdentifier: HashAlgorithm] = [
        .agreementSHA1: .sha1, .agreementSHA224: .sha224, .agreementSHA256: .sha256, .agreementSHA384: .sha384,
        .agreementSHA512: .sha512,
    ]

    private static let sizes: [ObjectIdentifier: Int] = [.wrapAES128: 16, .wrapAES192: 24, .wrapAES256: 32]
}
