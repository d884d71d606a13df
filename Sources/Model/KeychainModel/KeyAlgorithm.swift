// SPDX-License-Identifier: Apache-2.0

/// The supported algorithms of `SecKeyAlgorithm` (keychain-behaviour §6.1, §6.2).
///
/// `rawValue` is Apple's string, such as `algid:sign:RSA:message-PSS:SHA256:SHA256:32`.
public enum KeyAlgorithm: Sendable, Hashable {
    case rsaSignature(RSASignature)
    case rsaEncryption(RSAEncryption)
    case ecdsa(ECDSAFormat, SignedInput)
    case ecdh(Agreement, derivation: HashAlgorithm?)
    case ecies(Agreement, HashAlgorithm, derivesIV: Bool)

    /// The input of a signature: a digest, or a message that is hashed first.
    public enum SignedInput: Sendable, Hashable {
        /// nil if the digest may have any length.
        case digest(HashAlgorithm?)
        case message(HashAlgorithm)
    }

    public enum RSASignature: Sendable, Hashable {
        /// The input is the whole block.
        case raw
        /// RFC 8017, section 8.2. Without a hash, the bytes are padded as given.
        case pkcs1(SignedInput)
        /// RFC 8017, section 8.1, with a salt as long as the digest.
        case pss(SignedInput)
    }

    public enum RSAEncryption: Sendable, Hashable {
        case raw
        case pkcs1
        case oaep(HashAlgorithm)
        /// A session key encrypted with OAEP, and the message encrypted with AES-GCM under it.
        case oaepAESGCM(HashAlgorithm)
    }

    public enum ECDSAFormat: String, Sendable, CaseIterable {
        /// A DER `SEQUENCE` of r and s.
        case x962 = "X962"
        /// r ‖ s, each as long as a field element.
        case rfc4754 = "RFC4754"
    }

    /// The two give the same result on curves with cofactor 1.
    public enum Agreement: String, Sendable, CaseIterable {
        case standard = "ECDH"
        case cofactor = "ECDHC"
    }
}

// MARK: Names

extension KeyAlgorithm: RawRepresentable {
    public init?(rawValue: String) {
        guard let known = Self.byName[rawValue] else { return nil }
        self = known
    }

    public var rawValue: String {
        switch self {
        case .rsaSignature(let signature): "algid:sign:RSA:\(signature.name)"
        case .rsaEncryption(let encryption): "algid:encrypt:RSA:\(encryption.name)"
        case .ecdsa(let format, let input): "algid:sign:ECDSA:\(input.name(format.rawValue))"
        case .ecdh(let agreement, let hash):
            "algid:keyexchange:\(agreement.rawValue)" + (hash.map { ":KDFX963:\($0.rawValue)" } ?? "")
        case .ecies(let agreement, let hash, let derivesIV):
            "algid:encrypt:ECIES:\(agreement.rawValue):KDFX963:\(hash.rawValue):AESGCM\(derivesIV ? "-KDFIV" : "")"
        }
    }

    /// Every supported algorithm.
    public static let all: [KeyAlgorithm] = {
        let hashes = HashAlgorithm.allCases
        var all: [KeyAlgorithm] = [.rsaSignature(.raw), .rsaSignature(.pkcs1(.digest(nil)))]
        all += hashes.flatMap { [.rsaSignature(.pkcs1(.digest($0))), .rsaSignature(.pkcs1(.message($0)))] }
        all += hashes.flatMap { [.rsaSignature(.pss(.digest($0))), .rsaSignature(.pss(.message($0)))] }
        for format in ECDSAFormat.allCases {
            all.append(.ecdsa(format, .digest(nil)))
            all += hashes.flatMap { [.ecdsa(format, .digest($0)), .ecdsa(format, .message($0))] }
        }
        all += [.rsaEncryption(.raw), .rsaEncryption(.pkcs1)]
        all += hashes.flatMap { [.rsaEncryption(.oaep($0)), .rsaEncryption(.oaepAESGCM($0))] }
        for agreement in Agreement.allCases {
            all.append(.ecdh(agreement, derivation: nil))
            for hash in hashes {
                all += [.ecdh(agreement, derivation: hash), .ecies(agreement, hash, derivesIV: false)]
                // SHA-1 is not defined with a derived IV.
                if hash != .sha1 { all.append(.ecies(agreement, hash, derivesIV: true)) }
            }
        }
        return all
    }()

    private static let byName: [String: KeyAlgorithm] = {
        var names = Dictionary(all.map { ($0.rawValue, $0) }, uniquingKeysWith: { first, _ in first })
        // The older name of the algorithm without a hash.
        names["algid:sign:ECDSA:RFC4754"] = .ecdsa(.rfc4754, .digest(nil))
        return names
    }()
}

extension KeyAlgorithm.SignedInput {
    fileprivate func name(_ scheme: String) -> String {
        switch self {
        case .digest(let hash?): "digest-\(scheme):\(hash.rawValue)"
        case .digest(nil): "digest-\(scheme)"
        case .message(let hash): "message-\(scheme):\(hash.rawValue)"
        }
    }
}

extension KeyAlgorithm.RSASignature {
    fileprivate var name: String {
        switch self {
        case .raw: "raw"
        case .pkcs1(let input): input.name("PKCS1v15")
        case .pss(.digest(let hash?)): "digest-PSS:\(Self.pss(hash))"
        case .pss(.message(let hash)): "message-PSS:\(Self.pss(hash))"
        case .pss(.digest(nil)): "digest-PSS"
        }
    }

    /// Returns the hashes and the salt length in Apple's name. For SHA-224 the name has 24, but the
    /// salt has 28 bytes.
    private static func pss(_ hash: HashAlgorithm) -> String {
        "\(hash.rawValue):\(hash.rawValue):\(hash == .sha224 ? 24 : hash.byteCount)"
    }
}

extension KeyAlgorithm.RSAEncryption {
    fileprivate var name: String {
        switch self {
        case .raw: "raw"
        case .pkcs1: "PKCS1"
        case .oaep(let hash): "OAEP:\(hash.rawValue)"
        case .oaepAESGCM(let hash): "OAEP:\(hash.rawValue):AESGCM"
        }
    }
}

// MARK: Operations

/// The operations of a key (`SecKeyOperationType`, by Apple's numbers).
public enum KeyOperation: Int, Sendable, CaseIterable {
    case sign = 0
    case verify = 1
    case encrypt = 2
    case decrypt = 3
    case exchange = 4
}

/// The part of an algorithm that needs the private key. Every algorithm consists of one of these
/// and of steps without the private key, so that a key in the keychain does little and large
/// messages stay with the caller.
public enum PrivateKeyUse: Sendable, Hashable {
    /// RSA on a block of the modulus' length.
    case signRaw
    /// PKCS #1 v1.5 of a digest, or of bytes without a hash.
    case signPKCS1(HashAlgorithm?)
    case signPSS(HashAlgorithm)
    /// ECDSA of a digest, as a DER `SEQUENCE` of r and s.
    case signECDSA
    case decryptRaw
    case decryptPKCS1
    case decryptOAEP(HashAlgorithm)
    /// The shared x-coordinate (ECDH) with a public key, `04 ‖ X ‖ Y`.
    case agree
    /// The same, to derive the key of a ciphertext.
    case agreeToDecrypt
    /// A message about the enclave that holds the key: see Documentation/Formats/attestation.md.
    case attest

    /// The operations that the use belongs to, for attributes such as `kSecAttrCanSign`. Raw RSA is
    /// both signing and decrypting.
    public var operations: [KeyOperation] {
        switch self {
        case .signRaw, .decryptRaw: [.sign, .decrypt]
        case .signPKCS1, .signPSS, .signECDSA, .attest: [.sign]
        case .decryptPKCS1, .decryptOAEP, .agreeToDecrypt: [.decrypt]
        case .agree: [.exchange]
        }
    }

    /// The name in the audit log.
    public var name: String {
        switch self {
        case .signRaw, .signPKCS1, .signPSS, .signECDSA: "sign"
        case .decryptRaw, .decryptPKCS1, .decryptOAEP, .agreeToDecrypt: "decrypt"
        case .agree: "agree"
        case .attest: "attest"
        }
    }

    /// The type of the keys that support this use.
    public var type: KeyType {
        switch self {
        case .signECDSA, .agree, .agreeToDecrypt, .attest: .ellipticCurve
        default: .rsa
        }
    }
}
