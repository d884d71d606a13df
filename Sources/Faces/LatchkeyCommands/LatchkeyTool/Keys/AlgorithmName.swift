// SPDX-License-Identifier: Apache-2.0

internal import KeyServices
internal import KeychainModel

/// The names of algorithms in commands: Apple's (`rsaSignatureMessagePSSSHA256`,
/// `kSecKeyAlgorithm…`, `algid:…`), those of JSON Web Algorithms (`PS256`), and common ones
/// (`rsa-pss-sha256`).
enum AlgorithmName {
    static func algorithm(_ name: String) throws(CommandFailure) -> KeyAlgorithm {
        if let known = KeyAlgorithm(rawValue: name) ?? byName[name.lowercased()] { return known }
        throw .parameter("unknown algorithm '\(name)'", hint: "one of \(examples)")
    }

    /// Returns the default algorithm of a key for an operation.
    static func defaultAlgorithm(for kind: KeyKind, _ operation: KeyOperation) -> KeyAlgorithm {
        switch (kind.type, operation) {
        case (.rsa, .sign), (.rsa, .verify): .rsaSignature(.pkcs1(.message(.sha256)))
        case (.rsa, _): .rsaEncryption(.oaep(.sha256))
        case (.ellipticCurve, .sign), (.ellipticCurve, .verify): .ecdsa(.x962, .message(.sha256))
        case (.ellipticCurve, _): .ecies(.cofactor, .sha256, derivesIV: true)
        }
    }

    static let examples =
        "rsa-pkcs1-sha256, rsa-pss-sha256, ecdsa-sha256, oaep-sha256, ecies-sha256, RS256, PS256, ES256, Apple's names"

    private static let byName: [String: KeyAlgorithm] = {
        var names: [String: KeyAlgorithm] = [
            "rsa-raw": .rsaSignature(.raw), "rsa-pkcs1": .rsaEncryption(.pkcs1), "oaep": .rsaEncryption(.oaep(.sha1)),
            "ecdsa": .ecdsa(.x962, .digest(nil)),
        ]
        for hash in HashAlgorithm.allCases {
            let name = hash.rawValue.lowercased()
            let bits = hash.byteCount * 8
            names["rsa-pkcs1-\(name)"] = .rsaSignature(.pkcs1(.message(hash)))
            names["rsa-pss-\(name)"] = .rsaSignature(.pss(.message(hash)))
            names["ecdsa-\(name)"] = .ecdsa(.x962, .message(hash))
            names["oaep-\(name)"] = .rsaEncryption(.oaep(hash))
            names["oaep-\(name)-aesgcm"] = .rsaEncryption(.oaepAESGCM(hash))
            if hash != .sha1 { names["ecies-\(name)"] = .ecies(.cofactor, hash, derivesIV: true) }
            guard [256, 384, 512].contains(bits) else { continue }
            names["rs\(bits)"] = .rsaSignature(.pkcs1(.message(hash)))
            names["ps\(bits)"] = .rsaSignature(.pss(.message(hash)))
            names["es\(bits)"] = .ecdsa(.rfc4754, .message(hash))
        }
        names["ecdsasignaturerfc4754"] = .ecdsa(.rfc4754, .digest(nil))
        for algorithm in KeyAlgorithm.all {
            for name in algorithm.swiftNames { names[name.lowercased()] = algorithm }
        }
        return names
    }()
}

extension KeyAlgorithm {
    /// Apple's names in Swift and in C.
    fileprivate var swiftNames: [String] {
        let name: String =
            switch self {
            case .rsaSignature(.raw): "rsaSignatureRaw"
            case .rsaSignature(.pkcs1(.digest(nil))): "rsaSignatureDigestPKCS1v15Raw"
            case .rsaSignature(.pkcs1(let input)): "rsaSignature\(input.word)PKCS1v15\(input.hashName)"
            case .rsaSignature(.pss(let input)): "rsaSignature\(input.word)PSS\(input.hashName)"
            case .rsaEncryption(.raw): "rsaEncryptionRaw"
            case .rsaEncryption(.pkcs1): "rsaEncryptionPKCS1"
            case .rsaEncryption(.oaep(let hash)): "rsaEncryptionOAEP\(hash.rawValue)"
            case .rsaEncryption(.oaepAESGCM(let hash)): "rsaEncryptionOAEP\(hash.rawValue)AESGCM"
            case .ecdsa(let format, let input): "ecdsaSignature\(input.word)\(format.rawValue)\(input.hashName)"
            case .ecdh(let agreement, let hash):
                "ecdhKeyExchange\(agreement.word)" + (hash.map { "X963\($0.rawValue)" } ?? "")
            case .ecies(let agreement, let hash, let derivesIV):
                "eciesEncryption\(agreement.word)\(derivesIV ? "VariableIV" : "")X963\(hash.rawValue)AESGCM"
            }
        return [name, "kSecKeyAlgorithm\(name)"]
    }
}

extension KeyAlgorithm.SignedInput {
    fileprivate var word: String {
        if case .message = self { "Message" } else { "Digest" }
    }

    fileprivate var hashName: String { hash?.rawValue ?? "" }
}

extension KeyAlgorithm.Agreement {
    fileprivate var word: String { self == .standard ? "Standard" : "Cofactor" }
}
