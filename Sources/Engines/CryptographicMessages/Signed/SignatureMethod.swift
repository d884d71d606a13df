// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel

/// The signature algorithm and the digest of a signer, which must agree.
struct SignatureMethod {
    private enum Scheme { case rsa, pss, ecdsa }

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
            scheme = .pss
            guard try PSSParameters(signature.parameters) == PSSParameters(hash) else {
                throw SignerDefect("RSASSA-PSS must use \(hash.displayName), MGF1 with it, and a salt of its length")
            }
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

    /// The algorithm for a digest, or for a message that is hashed first.
    func algorithm(ofMessage isMessage: Bool) -> KeyAlgorithm {
        let input: KeyAlgorithm.SignedInput = isMessage ? .message(hash) : .digest(hash)
        return switch scheme {
        case .rsa: .rsaSignature(.pkcs1(input))
        case .pss: .rsaSignature(.pss(input))
        case .ecdsa: .ecdsa(.x962, input)
        }
    }

    /// What the algorithms name; the hash is nil where only the digest algorithm names it.
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
private struct PSSParameters: Equatable {
    private let hash: HashAlgorithm
    private let maskHash: HashAlgorithm
    private let saltCount: Int

    /// The parameters that this package uses with a hash.
    init(_ hash: HashAlgorithm) { (self.hash, maskHash, saltCount) = (hash, hash, hash.byteCount) }

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

    /// - Parameter algorithm: nil for the default, which is SHA-1.
    private static func hash(_ algorithm: MessageReader.Element?) throws(KeychainError) -> HashAlgorithm {
        guard let algorithm else { return .sha1 }
        var reader = MessageReader(algorithm.encoded)
        guard let hash = HashAlgorithm(digest: try reader.algorithm("hashAlgorithm")) else {
            throw .unsupportedMessage("the hash of RSASSA-PSS")
        }
        return hash
    }
}
