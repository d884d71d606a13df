// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeyServices
internal import KeychainModel

/// The signature algorithm and the digest of a signer. They must agree.
struct SignatureMethod {
    private enum Scheme: Equatable {
        case rsa, ecdsa
        case pss(saltCount: Int)
    }

    private let scheme: Scheme
    let hash: HashAlgorithm

    /// - Throws: the reason why the pair is not supported.
    init(_ signature: AlgorithmIdentifier, digest: AlgorithmIdentifier) throws(SignerDefect) {
        guard let hash = HashAlgorithm(digest: digest) else {
            throw SignerDefect(
                digest.algorithm == .digestMD5
                    ? "MD5 is not accepted" : "the digest algorithm \(digest.algorithm) is not supported")
        }
        self.hash = hash
        if signature.algorithm == .signaturePSS {
            let parameters = try PSSParameters(signature.parameters)
            guard parameters.hash == hash, parameters.maskHash == hash else {
                throw SignerDefect(
                    "RSASSA-PSS must use \(hash.displayName), the digest of the signer, and MGF1 with it")
            }
            scheme = .pss(saltCount: parameters.saltCount)
            return
        }
        let found = Self.schemes[signature.algorithm]
        guard let found else {
            throw SignerDefect("the signature algorithm \(signature.algorithm) is not supported")
        }
        guard found.scheme == .rsa ? signature.hasNoParameters : signature.parameters == nil else {
            throw SignerDefect("the signature algorithm has unexpected parameters")
        }
        guard found.hash == nil || found.hash == hash else {
            throw SignerDefect("the digest of the signature algorithm is not that of the signer")
        }
        scheme = found.scheme
    }

    /// Whether the key made the signature of the digest. A malformed signature, and a key of another
    /// type, is not an error: the result is false.
    func isSignature(_ signature: ArraySlice<UInt8>, of digest: [UInt8], by key: PublicKey) -> Bool {
        signature.withUnsafeBytes { signature in
            digest.withUnsafeBytes { digest in
                let isSigned =
                    switch scheme {
                    case .rsa: try? key.isSignature(signature, of: digest, .rsaSignature(.pkcs1(.digest(hash))))
                    case .ecdsa: try? key.isSignature(signature, of: digest, .ecdsa(.x962, .digest(hash)))
                    case .pss(let count): try? key.isPSSSignature(signature, of: digest, hash, saltCount: count)
                    }
                return isSigned ?? false
            }
        }
    }

    /// The schemes of the algorithms; the hash is nil if only the digest algorithm names it.
    private static let schemes: [ObjectIdentifier: (scheme: Scheme, hash: HashAlgorithm?)] = [
        .keyRSA: (.rsa, nil),
        .signatureRSASHA1: (.rsa, .sha1), .signatureRSASHA224: (.rsa, .sha224), .signatureRSASHA256: (.rsa, .sha256),
        .signatureRSASHA384: (.rsa, .sha384), .signatureRSASHA512: (.rsa, .sha512),
        .signatureECDSASHA1: (.ecdsa, .sha1), .signatureECDSASHA224: (.ecdsa, .sha224),
        .signatureECDSASHA256: (.ecdsa, .sha256), .signatureECDSASHA384: (.ecdsa, .sha384),
        .signatureECDSASHA512: (.ecdsa, .sha512),
    ]
}

/// `RSASSA-PSS-params` (RFC 4055, section 3.1).
private struct PSSParameters {
    let hash: HashAlgorithm
    let maskHash: HashAlgorithm
    let saltCount: Int

    init(_ encoded: ArraySlice<UInt8>?) throws(SignerDefect) {
        do throws(KeychainError) {
            guard let encoded else { throw .malformedMessage("the parameters are missing") }
            var members = MessageReader(try MessageReader.only(of: encoded, "RSASSA-PSS-params").content)
            hash = try Self.hash(try members.optionalExplicit(0, "hashAlgorithm"))
            maskHash = try Self.maskHash(try members.optionalExplicit(1, "maskGenAlgorithm"))
            var salt = try members.optional(DERTag.constructed(2)).map { MessageReader($0.content) }
            saltCount = try salt?.number("saltLength") ?? 20
            var trailer = try members.optional(DERTag.constructed(3)).map { MessageReader($0.content) }
            guard try trailer?.number("trailerField") ?? 1 == 1 else {
                throw .malformedMessage("trailerField must be 1")
            }
            try members.requireEnd("RSASSA-PSS-params")
        } catch {
            throw SignerDefect("the parameters of RSASSA-PSS cannot be read: \(error.problem)")
        }
    }

    private static func maskHash(_ function: MessageReader.Element?) throws(KeychainError) -> HashAlgorithm {
        guard let function else { return .sha1 }
        var members = MessageReader(function.content)
        guard try members.objectIdentifier("maskGenAlgorithm") == .maskMGF1 else {
            throw .unsupportedMessage("another mask function than MGF1")
        }
        return try hash(try members.next())
    }

    /// - Parameter algorithm: nil for the default, SHA-1.
    private static func hash(_ algorithm: MessageReader.Element?) throws(KeychainError) -> HashAlgorithm {
        guard let algorithm else { return .sha1 }
        var reader = MessageReader(algorithm.encoded)
        guard let hash = HashAlgorithm(digest: try reader.algorithm("hashAlgorithm")) else {
            throw .unsupportedMessage("the hash of RSASSA-PSS")
        }
        return hash
    }
}
