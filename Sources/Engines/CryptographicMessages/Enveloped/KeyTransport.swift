// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel

/// How a content key is encrypted with an RSA key (RFC 3370, section 4.2; RFC 3560).
enum KeyTransport: Hashable, Sendable {
    case pkcs1
    /// With MGF1 of the same hash, and no label.
    case oaep(HashAlgorithm)

    /// - Throws: errSecUnimplemented for other algorithms.
    init(_ algorithm: AlgorithmIdentifier) throws(KeychainError) {
        switch algorithm.algorithm {
        case .keyRSA where algorithm.hasNoParameters: self = .pkcs1
        case .encryptionOAEP: self = .oaep(try Self.hash(algorithm.parameters))
        default: throw .unsupportedMessage("the key transport \(algorithm.algorithm)")
        }
    }

    /// Reads `RSAES-OAEP-params` (RFC 4055, section 4.1).
    private static func hash(_ parameters: ArraySlice<UInt8>?) throws(KeychainError) -> HashAlgorithm {
        guard let parameters else { throw .malformedMessage("the parameters of RSAES-OAEP are missing") }
        var members = MessageReader(try MessageReader.only(of: parameters, "RSAES-OAEP-params").content)
        let hash = try hash(of: try members.optionalExplicit(0, "hashFunc"))
        let mask = try maskHash(try members.optionalExplicit(1, "maskGenFunc"))
        let source = try members.optionalExplicit(2, "pSourceFunc")
        try members.requireEnd("RSAES-OAEP-params")
        guard mask == hash else { throw .unsupportedMessage("RSAES-OAEP with two hashes") }
        if let source {
            var parts = MessageReader(source.content)
            guard try parts.objectIdentifier("pSourceFunc") == .sourceSpecified,
                try parts.required(.octetString, "the label of RSAES-OAEP").content.isEmpty
            else { throw .unsupportedMessage("RSAES-OAEP with a label") }
        }
        return hash
    }

    private static func maskHash(_ function: MessageReader.Element?) throws(KeychainError) -> HashAlgorithm {
        guard let function else { return .sha1 }
        var members = MessageReader(function.content)
        guard try members.objectIdentifier("maskGenFunc") == .maskMGF1 else {
            throw .unsupportedMessage("another mask function than MGF1")
        }
        return try hash(of: try members.next())
    }

    /// - Parameter algorithm: nil for the default, SHA-1: it is not weak here.
    private static func hash(of algorithm: MessageReader.Element?) throws(KeychainError) -> HashAlgorithm {
        guard let algorithm else { return .sha1 }
        var reader = MessageReader(algorithm.encoded)
        guard let hash = HashAlgorithm(digest: try reader.algorithm("hashFunc")) else {
            throw .unsupportedMessage("the hash of RSAES-OAEP")
        }
        return hash
    }

    /// The use of the private key.
    var decryption: PrivateKeyUse {
        switch self {
        case .pkcs1: .decryptPKCS1
        case .oaep(let hash): .decryptOAEP(hash)
        }
    }

    /// The use of the public key.
    var encryption: KeyAlgorithm {
        switch self {
        case .pkcs1: .rsaEncryption(.pkcs1)
        case .oaep(let hash): .rsaEncryption(.oaep(hash))
        }
    }

    /// The `AlgorithmIdentifier`.
    var algorithm: [UInt8] {
        guard case .oaep(let hash) = self else { return MessageWriter.algorithm(.keyRSA, MessageWriter.null) }
        let hashAlgorithm = MessageWriter.algorithm(hash.digestIdentifier, MessageWriter.null)
        let mask = MessageWriter.algorithm(.maskMGF1, hashAlgorithm)
        // DER leaves out the default.
        let parts =
            hash == .sha1 ? [] : MessageWriter.explicit(0, hashAlgorithm) + MessageWriter.explicit(1, mask)
        return MessageWriter.algorithm(.encryptionOAEP, MessageWriter.sequence(parts))
    }
}
