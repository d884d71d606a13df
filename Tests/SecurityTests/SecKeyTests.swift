// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Security
import Synchronization
import Testing

/// Keys through Apple's API (keychain-behaviour §7.4, §7.11), on disk, in memory and through the
/// daemon.
@Suite("SecKey")
struct SecKeyTests {
    // MARK: Helpers

    private static func random(_ parameters: [CFString: Any]) throws -> SecKey {
        var error: Unmanaged<CFError>?
        guard let key = SecKeyCreateRandomKey(parameters as CFDictionary, &error) else {
            throw try #require(error).takeRetainedValue()
        }
        return key
    }

    private static var curve: [CFString: Any] {
        [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256]
    }
    private static var rsa: [CFString: Any] { [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: 2048] }

    /// Returns the code of the error of a call that returns nil; 0 if it returns a value, 1 for an
    /// error of another domain.
    private static func code<Result>(_ body: (UnsafeMutablePointer<Unmanaged<CFError>?>?) -> Result?) -> Int {
        var error: Unmanaged<CFError>?
        guard body(&error) == nil else { return 0 }
        // Without an error pointer the call must not trap.
        #expect(body(nil) == nil)
        guard let problem = error?.takeRetainedValue(), problem.domain == NSOSStatusErrorDomain else { return 1 }
        return problem.code
    }

    private static func count(_ query: [CFString: Any] = [:]) -> Int {
        var result: CFTypeRef?
        let all = query.merging([
            kSecClass: kSecClassKey, kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
        ]) { $1 }
        guard SecItemCopyMatching(all as CFDictionary, &result) == errSecSuccess else { return 0 }
        return (result as? [Any])?.count ?? 0
    }

    private static func found(_ query: [CFString: Any]) throws -> SecKey {
        var result: CFTypeRef?
        let status = SecItemCopyMatching(
            query.merging([kSecClass: kSecClassKey, kSecReturnRef: true]) { $1 } as CFDictionary, &result)
        #expect(status == errSecSuccess)
        return try #require(result as? SecKey)
    }

    private static let message = Data("a message".utf8)

    private static func agree(_ one: SecKey, _ other: SecKey) throws -> Bool {
        let algorithm: SecKeyAlgorithm =
            SecKeyIsAlgorithmSupported(one, .sign, .rsaSignatureMessagePSSSHA256)
            ? .rsaSignatureMessagePSSSHA256 : .ecdsaSignatureMessageX962SHA256
        let signature = try #require(SecKeyCreateSignature(one, algorithm, message as CFData, nil))
        return SecKeyVerifySignature(other, algorithm, message as CFData, signature, nil)
    }

    // MARK: Generation

    @Test("T221: a key pair that is not permanent is not stored", arguments: Backend.allCases)
    func notPermanent(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            for parameters in [Self.curve, Self.rsa] {
                let key = try Self.random(parameters)
                #expect(Self.count() == 0)
                #expect(try Self.agree(key, try #require(SecKeyCopyPublicKey(key))))
            }
        }
    }

    @Test("T222: a half is stored if its attributes or those of the pair request it", arguments: Backend.allCases)
    func permanent(_ backend: Backend) throws {
        let yes = [kSecAttrIsPermanent: true]
        for (more, count) in [
            ([kSecPrivateKeyAttrs: yes], 1), ([kSecPublicKeyAttrs: yes], 1),
            ([kSecPrivateKeyAttrs: yes, kSecPublicKeyAttrs: yes], 2),
            ([kSecAttrIsPermanent: true], 2),
            ([kSecAttrIsPermanent: true, kSecPublicKeyAttrs: [kSecAttrIsPermanent: false]], 1),
            ([kSecAttrIsPermanent: 1], 0), ([kSecAttrIsPermanent: "true"], 0),
        ] as [([CFString: Any], Int)] {
            try withKeychain(backend) { _ in
                let key = try Self.random(Self.curve.merging(more) { $1 })
                #expect(Self.count() == count, "\(more)")
                #expect(try Self.agree(key, try #require(SecKeyCopyPublicKey(key))))
            }
        }
    }

    @Test(
        "T223: label, tag and application label are returned for each half; a given application label is kept",
        arguments: Backend.allCases)
    func perHalf(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let tags = [Data("private".utf8), Data("public".utf8)]
            let halves = tags.map {
                [
                    kSecAttrIsPermanent: true, kSecAttrApplicationTag: $0,
                    kSecAttrLabel: String(decoding: $0, as: UTF8.self),
                ]
                    as [CFString: Any]
            }
            let key = try Self.random(
                Self.rsa.merging([kSecPrivateKeyAttrs: halves[0], kSecPublicKeyAttrs: halves[1]]) { $1 })
            for (index, tag) in tags.enumerated() {
                var result: CFTypeRef?
                let query =
                    [kSecClass: kSecClassKey, kSecAttrApplicationTag: tag, kSecReturnAttributes: true]
                    as [CFString: Any]
                #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
                let attributes = try #require(result as? [CFString: Any])
                #expect(attributes[kSecAttrLabel] as? String == String(decoding: tag, as: UTF8.self))
                #expect(attributes[kSecAttrKeyClass] as? Int == (index == 0 ? 1 : 0))
                #expect(attributes[kSecAttrKeySizeInBits] as? Int == 2048 && attributes[kSecAttrKeyType] as? Int == 42)
                let label =
                    try #require(SecKeyCopyAttributes(key) as? [CFString: Any])[kSecAttrApplicationLabel] as? Data
                #expect(label?.count == 20 && attributes[kSecAttrApplicationLabel] as? Data == label)
            }
            #expect(
                try Self.agree(
                    Self.found([kSecAttrApplicationTag: tags[0]]), Self.found([kSecAttrApplicationTag: tags[1]])))
            _ = try Self.random(
                Self.curve.merging([
                    kSecPrivateKeyAttrs: [kSecAttrIsPermanent: true, kSecAttrApplicationLabel: Data([1, 2])]
                ]) { $1 })
            #expect(Self.count([kSecAttrApplicationLabel: Data([1, 2])]) == 1)
        }
    }

    @Test(
        "T249, T250: a key pair that cannot be generated or stored leaves nothing behind", arguments: Backend.allCases)
    func failures(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let permanent = [kSecAttrIsPermanent: true]
            func code(_ parameters: [CFString: Any]) -> Int {
                Self.code { SecKeyCreateRandomKey(parameters as CFDictionary, $0) }
            }
            #expect(
                code(Self.curve.merging([kSecAttrKeySizeInBits: 1_000_000, kSecPrivateKeyAttrs: permanent]) { $1 })
                    == -25311)
            #expect(code([kSecAttrKeyType: kSecAttrKeyTypeRSA]) == -25311)
            #expect(code([kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: "many"]) == -25311)
            #expect(code([kSecAttrKeySizeInBits: 2048]) == -50)
            #expect(code([kSecAttrKeyType: "42 ", kSecAttrKeySizeInBits: 2048]) == -50)
            #expect(code([kSecAttrKeyType: "9999", kSecAttrKeySizeInBits: 2048]) == -50)
            #expect(code(Self.curve.merging([kSecAttrTokenID: kSecAttrTokenIDSecureEnclave]) { $1 }) == -4)
            #expect(
                code(Self.curve.merging([kSecAttrAccessGroup: "other", kSecPrivateKeyAttrs: permanent]) { $1 })
                    == -34018)
            // The public half is refused, so the private half is not stored either.
            let foreign = [kSecAttrIsPermanent: true, kSecAttrAccessGroup: "other"] as [CFString: Any]
            #expect(
                code(Self.curve.merging([kSecPrivateKeyAttrs: permanent, kSecPublicKeyAttrs: foreign]) { $1 }) == -34018
            )
            #expect(Self.count() == 0)
            // A decimal string is a size.
            #expect(code([kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeySizeInBits: "384"]) == 0)
        }
    }

    @Test("T251: SecKeyGeneratePair returns both halves; the public half of each is the same")
    func pair() throws {
        var (publicKey, privateKey): (SecKey?, SecKey?)
        #expect(SecKeyGeneratePair(Self.curve as CFDictionary, &publicKey, &privateKey) == errSecSuccess)
        let (open, secret) = (try #require(publicKey), try #require(privateKey))
        #expect(SecKeyCopyPublicKey(secret) == open && SecKeyCopyPublicKey(open) == open && open != secret)
        #expect(open.hash == SecKeyCopyPublicKey(secret)?.hash)
        #expect(try Self.agree(secret, open))
        #expect(CFGetTypeID(open) == SecKeyGetTypeID())
        #expect(SecKeyGeneratePair([:] as CFDictionary, nil, nil) == errSecParam)
    }

    // MARK: Bytes

    @Test(
        "T224 to T229: external representations have Apple's lengths and create equal keys; other data is refused"
    )
    func external() throws {
        for (bits, size) in [(224, 28), (256, 32), (384, 48), (521, 66)] {
            let key = try Self.random([kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeySizeInBits: bits])
            let open = try #require(SecKeyCopyPublicKey(key))
            let (secret, bytes) = (
                try #require(SecKeyCopyExternalRepresentation(key, nil)),
                try #require(SecKeyCopyExternalRepresentation(open, nil))
            )
            #expect(bytes.length == 2 * size + 1 && secret.length == 3 * size + 1 && SecKeyGetBlockSize(key) == size)
            func code(_ data: CFData, _ keyClass: Any, _ type: Any = kSecAttrKeyTypeEC) -> Int {
                Self.code {
                    SecKeyCreateWithData(data, [kSecAttrKeyType: type, kSecAttrKeyClass: keyClass] as CFDictionary, $0)
                }
            }
            let attributes =
                [kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeyClass: kSecAttrKeyClassPrivate] as CFDictionary
            #expect(SecKeyCreateWithData(secret, attributes, nil) == key)
            #expect(code(secret, kSecAttrKeyClassPublic) == -50 && code(bytes, kSecAttrKeyClassPrivate) == -50)
            #expect(code(secret, 1, 73) == 0 && code(secret, "1", "73") == 0)
            #expect(
                code(secret, " 1") == -50 && code(secret, 3) == -50 && code(secret, kSecAttrKeyClassSymmetric) == -4)
            #expect(
                code(Data([1, 2, 3]) as CFData, kSecAttrKeyClassPublic) == -50
                    && code(NSData(), kSecAttrKeyClassPrivate) == -50)
            #expect(code(secret, kSecAttrKeyClassPrivate, kSecAttrKeyTypeRSA) == -50)
        }
        let key = try Self.random(Self.rsa)
        let bytes = try #require(SecKeyCopyExternalRepresentation(key, nil))
        #expect(SecKeyGetBlockSize(key) == 256)
        let wrong = [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: kSecAttrKeyClassPublic] as CFDictionary
        #expect(Self.code { SecKeyCreateWithData(bytes, wrong, $0) } == -50)
    }

    @Test(
        "T248, T252, T253: attributes are found by constant and by raw string; the supported algorithms are Apple's")
    func attributes() throws {
        let key = try Self.random(Self.rsa)
        let open = try #require(SecKeyCopyPublicKey(key))
        let attributes = try #require(SecKeyCopyAttributes(key) as? [String: Any])
        #expect(attributes["bsiz"] as? Int == 2048 && attributes[kSecAttrKeySizeInBits as String] as? Int == 2048)
        #expect(attributes[kSecAttrKeyType as String] as? String == kSecAttrKeyTypeRSA as String)
        #expect(attributes[kSecAttrKeyClass as String] as? String == kSecAttrKeyClassPrivate as String)
        #expect(
            attributes[kSecAttrCanSign as String] as? Bool == true
                && attributes[kSecAttrCanDerive as String] as? Bool == false)
        #expect(attributes[kSecClass as String] as? String == kSecClassKey as String)
        #expect(attributes[kSecValueData as String] as? Data == SecKeyCopyExternalRepresentation(key, nil) as Data?)
        #expect(SecKeyIsAlgorithmSupported(key, .verify, .rsaSignatureMessagePSSSHA256))
        #expect(SecKeyIsAlgorithmSupported(open, .decrypt, .rsaEncryptionOAEPSHA1))
        #expect(!SecKeyIsAlgorithmSupported(open, .decrypt, .rsaEncryptionOAEPSHA1AESGCM))
        #expect(
            !SecKeyIsAlgorithmSupported(key, .encrypt, .rsaEncryptionPKCS1)
                && !SecKeyIsAlgorithmSupported(open, .sign, .rsaSignatureRaw))
        #expect(!SecKeyIsAlgorithmSupported(key, .sign, .ecdsaSignatureMessageX962SHA256))
        #expect(!SecKeyIsAlgorithmSupported(key, .sign, .rsaSignatureMessagePKCS1v15MD5))
        #expect(!SecKeyIsAlgorithmSupported(key, .sign, SecKeyAlgorithm(rawValue: "algid:none" as CFString)))
        // The call must not trap, whether or not the algorithm is supported.
        #expect(
            Self.code { SecKeyCreateDecryptedData(open, .rsaEncryptionPKCS1, Data(count: 256) as CFData, $0) } == -50)
        #expect(Self.code { SecKeyCreateEncryptedData(key, .rsaEncryptionPKCS1, Self.message as CFData, $0) } == -50)
        #expect(
            Self.code { SecKeyCreateSignature(open, .rsaSignatureMessagePSSSHA256, Self.message as CFData, $0) } == -50)
    }

    // MARK: Operations

    @Test("T230, T238, T239: wrong digests, changed signatures and truncated signatures have their codes")
    func signatures() throws {
        let key = try Self.random(Self.curve)
        let open = try #require(SecKeyCopyPublicKey(key))
        #expect(
            Self.code { SecKeyCreateSignature(key, .ecdsaSignatureDigestX962SHA256, Data(count: 31) as CFData, $0) }
                == -50)
        let signature =
            try #require(SecKeyCreateSignature(key, .ecdsaSignatureMessageRFC4754SHA256, Self.message as CFData, nil))
            as Data
        #expect(signature.count == 64)
        for wrong in [signature.dropLast(), signature + Data([0]), Data(signature.map { $0 ^ 1 })] {
            let code = Self.code {
                SecKeyVerifySignature(
                    open, .ecdsaSignatureMessageRFC4754SHA256, Self.message as CFData, wrong as CFData, $0) ? true : nil
            }
            #expect(code == -67808)
        }
    }

    @Test("T241 to T247: key exchange, ECIES and hybrid RSA encryption work through the API")
    func exchange() throws {
        let (one, other) = (try Self.random(Self.curve), try Self.random(Self.curve))
        let (openOne, openOther) = (try #require(SecKeyCopyPublicKey(one)), try #require(SecKeyCopyPublicKey(other)))
        let size = SecKeyKeyExchangeParameter.requestedSize.rawValue
        let info = SecKeyKeyExchangeParameter.sharedInfo.rawValue
        func agreed(_ parameters: [CFString: Any], _ algorithm: SecKeyAlgorithm) -> (Data?, Data?) {
            (
                SecKeyCopyKeyExchangeResult(one, algorithm, openOther, parameters as CFDictionary, nil) as Data?,
                SecKeyCopyKeyExchangeResult(other, algorithm, openOne, parameters as CFDictionary, nil) as Data?
            )
        }
        let plain = agreed([:], .ecdhKeyExchangeStandard)
        #expect(plain.0 == plain.1 && plain.0?.count == 32)
        let derived = agreed([size: 32, info: Data([1])], .ecdhKeyExchangeStandardX963SHA256)
        #expect(
            derived.0 == derived.1 && derived.0?.count == 32
                && derived.0 != agreed([size: 32], .ecdhKeyExchangeStandardX963SHA256).0)
        for wrong in [[:], [size: "32"], [size: true], [size: 32, info: "text"]] as [[CFString: Any]] {
            #expect(
                Self.code {
                    SecKeyCopyKeyExchangeResult(
                        one, .ecdhKeyExchangeCofactorX963SHA512, openOther, wrong as CFDictionary, $0)
                }
                    == -50)
        }
        let cipher = try #require(
            SecKeyCreateEncryptedData(
                openOne, .eciesEncryptionStandardVariableIVX963SHA256AESGCM, Self.message as CFData, nil))
        #expect(
            SecKeyCreateDecryptedData(one, .eciesEncryptionStandardVariableIVX963SHA256AESGCM, cipher, nil) as Data?
                == Self.message)
        #expect(
            Self.code {
                SecKeyCreateDecryptedData(other, .eciesEncryptionStandardVariableIVX963SHA256AESGCM, cipher, $0)
            } == -50)
        #expect(
            Self.code { SecKeyCreateDecryptedData(one, .eciesEncryptionCofactorX963SHA1AESGCM, NSData(), $0) } == -50)
    }

    @Test("The older calls sign, verify, encrypt and decrypt; small buffers and old hashes are refused")
    func older() throws {
        let key = try Self.random(Self.rsa)
        let open = try #require(SecKeyCopyPublicKey(key))
        let digest = [UInt8](repeating: 7, count: 32)
        var signature = [UInt8](repeating: 0, count: 256)
        var length = 256
        #expect(SecKeyRawSign(key, .PKCS1SHA256, digest, 32, &signature, &length) == errSecSuccess && length == 256)
        #expect(SecKeyRawVerify(open, .PKCS1SHA256, digest, 32, signature, length) == errSecSuccess)
        #expect(
            SecKeyVerifySignature(
                open, .rsaSignatureDigestPKCS1v15SHA256, Data(digest) as CFData, Data(signature) as CFData, nil))
        signature[5] ^= 1
        #expect(SecKeyRawVerify(open, .PKCS1SHA256, digest, 32, signature, length) == -67808)
        length = 255
        #expect(SecKeyRawSign(key, .PKCS1SHA256, digest, 32, &signature, &length) == errSecParam)
        for padding in [SecPadding.PKCS1MD2, .PKCS1MD5, .OAEP, .PKCS1SHA1] {
            length = 256
            #expect(SecKeyRawSign(key, padding, digest, 32, &signature, &length) == errSecParam)
        }
        for padding in [SecPadding.PKCS1, .OAEP] {
            var (cipher, cipherLength) = ([UInt8](repeating: 0, count: 256), 256)
            #expect(SecKeyEncrypt(open, padding, digest, 32, &cipher, &cipherLength) == errSecSuccess)
            var (plain, plainLength) = ([UInt8](repeating: 0, count: 256), 256)
            #expect(
                SecKeyDecrypt(key, padding, cipher, cipherLength, &plain, &plainLength) == errSecSuccess
                    && plainLength == 32)
            #expect(Array(plain.prefix(32)) == digest)
            plainLength = 31
            #expect(SecKeyDecrypt(key, padding, cipher, cipherLength, &plain, &plainLength) == errSecParam)
            #expect(SecKeyDecrypt(key, padding, cipher, -1, &plain, &plainLength) == errSecParam)
        }
        let curve = try Self.random(Self.curve)
        length = 256
        #expect(SecKeyRawSign(curve, .sigRaw, digest, 32, &signature, &length) == errSecSuccess && length == 64)
        #expect(
            SecKeyRawVerify(curve, .sigRaw, digest, 32, signature, length) == errSecParam,
            "a private key of an elliptic curve does not verify")
        let curveHalf = try #require(SecKeyCopyPublicKey(curve))
        #expect(SecKeyRawVerify(curveHalf, .sigRaw, digest, 32, signature, length) == errSecSuccess)
        length = 256
        #expect(SecKeyRawSign(curve, .PKCS1MD5, digest, 32, &signature, &length) == errSecParam)
    }

    // MARK: In the keychain

    @Test(
        "T099, T100: a key added by reference is found, signs in the keychain, and is deleted",
        arguments: Backend.allCases)
    func reference(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            for parameters in [Self.curve, Self.rsa] {
                let key = try Self.random(parameters)
                let open = try #require(SecKeyCopyPublicKey(key))
                let tag = Data("tag".utf8)
                let item =
                    [kSecValueRef: key, kSecAttrApplicationTag: tag, kSecAttrLabel: "a label"] as [CFString: Any]
                #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
                #expect(SecItemAdd(item as CFDictionary, nil) == errSecDuplicateItem)
                let found = try Self.found([kSecAttrApplicationTag: tag])
                #expect(found == key && found.hash == key.hash && found.description.contains("in the keychain"))
                #expect(try Self.agree(found, open))
                #expect(
                    SecKeyCopyExternalRepresentation(found, nil) as Data? == SecKeyCopyExternalRepresentation(key, nil)
                        as Data?)
                #expect(SecKeyCopyPublicKey(found) == open)
                // By the reference of the key in memory, and by that of the key in the keychain.
                for reference in [key, found] {
                    var result: CFTypeRef?
                    let query = [kSecValueRef: reference, kSecReturnPersistentRef: true] as [CFString: Any]
                    #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
                    let again = try Self.found([kSecValuePersistentRef: try #require(result as? Data)])
                    #expect(
                        SecItemCopyMatching([kSecValueRef: reference, kSecAttrLabel: "a label"] as CFDictionary, nil)
                            == errSecSuccess)
                    #expect(again == key)
                }
                #expect(
                    SecItemUpdate([kSecValueRef: found] as CFDictionary, [kSecAttrLabel: "another"] as CFDictionary)
                        == errSecSuccess)
                #expect(Self.count([kSecAttrLabel: "another"]) == 1)
                #expect(SecItemDelete([kSecValueRef: found] as CFDictionary) == errSecSuccess)
                #expect(SecItemDelete([kSecValueRef: key] as CFDictionary) == errSecItemNotFound)
                // A deleted key cannot be used.
                let algorithm: SecKeyAlgorithm =
                    parameters[kSecAttrKeySizeInBits] as? Int == 256
                    ? .ecdsaSignatureMessageX962SHA256 : .rsaSignatureMessagePSSSHA256
                #expect(Self.code { SecKeyCreateSignature(found, algorithm, Self.message as CFData, $0) } == -25300)
            }
            // A reference to a key works with any class in the dictionary.
            let key = try Self.random(Self.curve)
            #expect(
                SecItemAdd([kSecValueRef: key, kSecClass: kSecClassGenericPassword] as CFDictionary, nil) == errSecParam
            )
            #expect(SecItemAdd([kSecValueRef: key, kSecValueData: Data()] as CFDictionary, nil) == errSecParam)
        }
    }

    @Test(
        "T100: a key is found and deleted by the application label of its addition",
        arguments: Backend.allCases)
    func applicationLabel(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let label = Data("an application label".utf8)
            let item = [kSecValueRef: try Self.random(Self.curve), kSecAttrApplicationLabel: label] as [CFString: Any]
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            let query = [kSecClass: kSecClassKey, kSecAttrApplicationLabel: label] as [CFString: Any]
            #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecSuccess)
            #expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
            #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecItemNotFound)
        }
    }

    @Test("Invalid sizes are refused without a trap", arguments: Backend.allCases)
    func sizes(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            for size in [-1, 0, 1, 504, 511, 2047, 8193, 8200, 5_000_000_000, Int.max, Int.min] {
                for permanent in [true, false] {
                    let parameters =
                        [
                            kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: size,
                            kSecPrivateKeyAttrs: [kSecAttrIsPermanent: permanent],
                        ] as [CFString: Any]
                    #expect(Self.code { SecKeyCreateRandomKey(parameters as CFDictionary, $0) } == -25311, "\(size)")
                }
            }
            #expect(Self.count() == 0)
        }
    }

    @Test(
        "RSA keys have at least 512 bits; below 2048 the program's logger gets one warning for each size",
        arguments: Backend.allCases)
    func small(_ backend: Backend) throws {
        let warnings = Mutex<[String]>([])
        let log = ProgramLog { text in warnings.withLock { $0.append(text) } }
        try ProgramLog.$current.withValue(log) {
            try withKeychain(backend) { _ in
                for (size, algorithm) in [
                    (512, SecKeyAlgorithm.rsaSignatureMessagePKCS1v15SHA256), (768, .rsaSignatureMessagePSSSHA1),
                    (1024, .rsaSignatureMessagePKCS1v15SHA512), (512, .rsaSignatureMessagePKCS1v15SHA1),
                ] {
                    for permanent in [true, false] {
                        let key = try Self.random(
                            [
                                kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: size,
                                kSecAttrIsPermanent: permanent,
                            ])
                        #expect(SecKeyGetBlockSize(key) == size / 8)
                        let signature = try #require(SecKeyCreateSignature(key, algorithm, Self.message as CFData, nil))
                        let publicKey = try #require(SecKeyCopyPublicKey(key))
                        #expect(SecKeyVerifySignature(publicKey, algorithm, Self.message as CFData, signature, nil))
                    }
                }
                // A digest that is too long for the block makes the algorithm unsupported for the
                // key.
                let tiny = try Self.random(Self.rsa.merging([kSecAttrKeySizeInBits: 512]) { $1 })
                for algorithm in [SecKeyAlgorithm.rsaSignatureMessagePKCS1v15SHA512, .rsaSignatureMessagePSSSHA256] {
                    #expect(!SecKeyIsAlgorithmSupported(tiny, .sign, algorithm))
                    #expect(Self.code { SecKeyCreateSignature(tiny, algorithm, Self.message as CFData, $0) } == -50)
                }
                _ = try Self.random(Self.rsa)
            }
        }
        #expect(warnings.withLock { $0.count } == 3)
        for size in [512, 768, 1024] {
            #expect(warnings.withLock { $0.contains { $0.contains("RSA-\(size) is weak") } })
        }
    }

    @Test(
        "A public RSA key is the same key when read as SubjectPublicKeyInfo and as PKCS #1",
        arguments: Backend.allCases)
    func subjectPublicKeyInfo(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let pair = try Self.random(Self.rsa)
            let publicKey = try #require(SecKeyCopyPublicKey(pair))
            let pkcs1 = try #require(SecKeyCopyExternalRepresentation(publicKey, nil)) as Data
            func element(_ tag: UInt8, _ content: Data) -> Data {
                Data([tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)]) + content
            }
            let algorithm = Data([0x30, 0x0D, 6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1, 5, 0])
            let info = element(0x30, algorithm + element(3, Data([0]) + pkcs1))
            let attributes =
                [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: kSecAttrKeyClassPublic] as [CFString: Any]
            func made(_ bytes: Data) -> SecKey? {
                SecKeyCreateWithData(bytes as CFData, attributes as CFDictionary, nil)
            }
            let read = try #require(made(info))
            #expect(read == made(pkcs1))
            #expect(try #require(SecKeyCopyExternalRepresentation(read, nil)) as Data == pkcs1)
            #expect(try Self.agree(pair, read))
            // An item with this data is a key as well.
            let item = attributes.merging([kSecClass: kSecClassKey, kSecValueData: info, kSecAttrLabel: "info"]) { $1 }
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            #expect(try Self.found([kSecAttrLabel: "info"]) == read)
            // Refused: as a private key, as another algorithm, with unused bits, truncated, with
            // trailing bytes.
            let asPrivate = attributes.merging([kSecAttrKeyClass: kSecAttrKeyClassPrivate]) { $1 }
            #expect(SecKeyCreateWithData(info as CFData, asPrivate as CFDictionary, nil) == nil)
            var pss = algorithm
            pss[12] = 10
            for bytes in [
                element(0x30, pss + element(3, Data([0]) + pkcs1)),
                element(0x30, algorithm + element(3, Data([1]) + pkcs1)),
                element(0x30, algorithm + element(3, Data())), element(0x30, algorithm), info.dropLast(), info + [0],
                element(0x30, algorithm + element(3, Data([0]) + pkcs1) + [5, 0]),
                element(0x30, algorithm + element(3, Data([0]) + info)),
            ] {
                #expect(made(Data(bytes)) == nil)
            }
            for length in 0..<info.count { #expect(made(info.prefix(length)) == nil) }
        }
    }

    @Test(
        "A key's reference finds its item with label, tag and scope, or, if it is gone, items with the same key",
        arguments: Backend.allCases)
    func byReference(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            func attributes(_ query: [CFString: Any]) -> [CFString: Any]? {
                var result: CFTypeRef?
                let all = query.merging([kSecReturnAttributes: true]) { $1 }
                return SecItemCopyMatching(all as CFDictionary, &result) == errSecSuccess
                    ? result as? [CFString: Any] : nil
            }
            let inMemory = try Self.random(Self.curve)
            let places: [(name: String, isSynchronizable: Bool)] = [("one", false), ("two", false), ("away", true)]
            for (name, isSynchronizable) in places {
                let item =
                    [
                        kSecValueRef: inMemory, kSecAttrLabel: name, kSecAttrApplicationTag: Data(name.utf8),
                        kSecAttrSynchronizable: isSynchronizable,
                    ] as [CFString: Any]
                #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            }
            for (name, isSynchronizable) in places {
                let key = try Self.found([kSecAttrLabel: name, kSecAttrSynchronizable: kSecAttrSynchronizableAny])
                let told = try #require(attributes([kSecValueRef: key]))
                #expect(
                    told[kSecAttrLabel] as? String == name && told[kSecAttrApplicationTag] as? Data == Data(name.utf8))
                #expect(told[kSecAttrSynchronizable] as? Int == (isSynchronizable ? 1 : 0))
                // If the query states the scope or the reference, the item must match it; the same
                // key elsewhere is found as well.
                #expect(
                    attributes([kSecValueRef: key, kSecAttrSynchronizable: true])?[kSecAttrLabel] as? String == "away")
                #expect(
                    attributes([kSecValueRef: key, kSecAttrLabel: "two"])?[kSecAttrApplicationTag] as? Data
                        == Data("two".utf8))
                #expect(attributes([kSecValueRef: key, kSecAttrLabel: "three"]) == nil)
                #expect(
                    attributes([kSecValueRef: try #require(SecKeyCopyPublicKey(key))]) == nil,
                    "the other half is a separate item")
            }
            // A key in memory stands for the local items with the same key; synchronized items must
            // be requested.
            #expect(attributes([kSecValueRef: inMemory])?[kSecAttrLabel] as? String == "one")
            #expect(
                attributes([kSecValueRef: inMemory, kSecAttrSynchronizable: true])?[kSecAttrLabel] as? String == "away")
            #expect(attributes([kSecValueRef: try Self.random(Self.curve)]) == nil)
            // An update or a deletion by reference affects only that item, not others with the same
            // key.
            let two = try Self.found([kSecAttrLabel: "two"])
            #expect(
                SecItemUpdate([kSecValueRef: two] as CFDictionary, [kSecAttrLabel: "second"] as CFDictionary)
                    == errSecSuccess)
            #expect(attributes([kSecValueRef: two])?[kSecAttrLabel] as? String == "second")
            #expect(SecItemDelete([kSecValueRef: two] as CFDictionary) == errSecSuccess)
            #expect(Self.count() == 1 && Self.count([kSecAttrLabel: "one"]) == 1)
            // A key that is stored again is found by its earlier reference.
            #expect(SecItemDelete([kSecClass: kSecClassKey, kSecAttrLabel: "one"] as CFDictionary) == errSecSuccess)
            #expect(attributes([kSecValueRef: two]) == nil)
            let again = [kSecValueRef: inMemory, kSecAttrLabel: "again"] as [CFString: Any]
            #expect(SecItemAdd(again as CFDictionary, nil) == errSecSuccess)
            #expect(attributes([kSecValueRef: two])?[kSecAttrLabel] as? String == "again")
            #expect(SecItemDelete([kSecValueRef: two] as CFDictionary) == errSecSuccess)
            #expect(SecItemDelete([kSecValueRef: two] as CFDictionary) == errSecItemNotFound)
            #expect(Self.count([kSecAttrSynchronizable: true]) == 1)
        }
    }

    @Test("Attributes of a key that is not stored are not parsed; exchange parameters are found by name and constant")
    func lenience() throws {
        let size = SecKeyKeyExchangeParameter.requestedSize.rawValue
        let one = try Self.random(Self.curve.merging([size: 32, "any!" as CFString: 1]) { $1 })
        let another = try Self.random(Self.curve)
        let other = try #require(SecKeyCopyPublicKey(another))
        let byConstant: [SecKeyKeyExchangeParameter: Any] = [.requestedSize: 16, .sharedInfo: Data([1])]
        let byName = [size: 16, SecKeyKeyExchangeParameter.sharedInfo.rawValue: Data([1])] as [CFString: Any]
        let results = [byConstant as CFDictionary, byName as CFDictionary].map {
            SecKeyCopyKeyExchangeResult(one, .ecdhKeyExchangeStandardX963SHA256, other, $0, nil) as Data?
        }
        #expect(results[0]?.count == 16 && results[0] == results[1])
    }

    @Test(
        "Every operation gives the same result for a key in the keychain and a key in memory",
        arguments: Backend.allCases)
    func stored(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            for parameters in [Self.curve, Self.rsa] {
                let key = try Self.random(parameters.merging([kSecPrivateKeyAttrs: [kSecAttrIsPermanent: true]]) { $1 })
                let open = try #require(SecKeyCopyPublicKey(key))
                let isRSA = SecKeyGetBlockSize(key) == 256
                let ciphers: [SecKeyAlgorithm] =
                    isRSA
                    ? [
                        .rsaEncryptionRaw, .rsaEncryptionPKCS1, .rsaEncryptionOAEPSHA256,
                        .rsaEncryptionOAEPSHA512AESGCM,
                    ]
                    : [.eciesEncryptionStandardX963SHA256AESGCM, .eciesEncryptionCofactorVariableIVX963SHA384AESGCM]
                for algorithm in ciphers {
                    let cipher = try #require(SecKeyCreateEncryptedData(open, algorithm, Self.message as CFData, nil))
                    let plain = try #require(SecKeyCreateDecryptedData(key, algorithm, cipher, nil)) as Data
                    #expect(
                        algorithm == .rsaEncryptionRaw
                            ? plain.suffix(Self.message.count) == Self.message : plain == Self.message)
                }
                let signatures: [SecKeyAlgorithm] =
                    isRSA
                    ? [
                        .rsaSignatureMessagePKCS1v15SHA1, .rsaSignatureMessagePSSSHA512, .rsaSignatureDigestPKCS1v15Raw,
                        .rsaSignatureRaw,
                    ]
                    : [
                        .ecdsaSignatureMessageX962SHA512, .ecdsaSignatureMessageRFC4754SHA224,
                        .ecdsaSignatureDigestX962,
                    ]
                for algorithm in signatures {
                    let signature = try #require(SecKeyCreateSignature(key, algorithm, Self.message as CFData, nil))
                    #expect(SecKeyVerifySignature(open, algorithm, Self.message as CFData, signature, nil))
                }
                guard !isRSA else { continue }
                let other = try Self.random(Self.curve)
                let mine = SecKeyCopyKeyExchangeResult(
                    key, .ecdhKeyExchangeStandard, try #require(SecKeyCopyPublicKey(other)), [:] as CFDictionary, nil)
                let theirs = SecKeyCopyKeyExchangeResult(
                    other, .ecdhKeyExchangeStandard, open, [:] as CFDictionary, nil)
                #expect(mine != nil && mine as Data? == theirs as Data?)
            }
        }
    }

    @Test(
        "A key that is not extractable can be used, but never exported or made extractable",
        arguments: Backend.allCases)
    func notExtractable(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let half =
                [kSecAttrIsPermanent: true, kSecAttrIsExtractable: false, kSecAttrApplicationTag: Data([1])]
                as [CFString: Any]
            let key = try Self.random(Self.curve.merging([kSecPrivateKeyAttrs: half]) { $1 })
            #expect(try Self.agree(key, try #require(SecKeyCopyPublicKey(key))))
            #expect(Self.code { SecKeyCopyExternalRepresentation(key, $0) } == -4)
            let query = [kSecClass: kSecClassKey, kSecAttrApplicationTag: Data([1])] as [CFString: Any]
            #expect(SecItemCopyMatching(query.merging([kSecReturnData: true]) { $1 } as CFDictionary, nil) == -4)
            var result: CFTypeRef?
            let both = query.merging([kSecReturnData: true, kSecReturnAttributes: true]) { $1 }
            #expect(SecItemCopyMatching(both as CFDictionary, &result) == errSecSuccess)
            let attributes = try #require(result as? [CFString: Any])
            #expect(attributes[kSecValueData] == nil && attributes[kSecAttrIsExtractable] as? Int == 0)
            #expect(attributes[kSecAttrWasNeverExtractable] as? Int == 1)
            for change in [
                [kSecAttrIsExtractable: true], [kSecAttrKeyClass: 0], [kSecAttrKeyClass: kSecAttrKeyClassPublic],
            ]
                as [[CFString: Any]]
            {
                #expect(SecItemUpdate(query as CFDictionary, change as CFDictionary) == errSecParam, "\(change)")
            }
            #expect(
                SecItemUpdate(query as CFDictionary, [kSecAttrLabel: "still there"] as CFDictionary) == errSecSuccess)
            #expect(SecItemAdd([kSecValueRef: key] as CFDictionary, nil) == -4)
            let shown = try #require(SecKeyCopyAttributes(key) as? [CFString: Any])
            #expect(
                shown[kSecAttrIsExtractable] as? Bool == false && shown[kSecAttrApplicationTag] as? Data == Data([1]))
            // In a list it does not hide other items; only it is omitted.
            let other =
                [kSecValueRef: try Self.random(Self.curve), kSecAttrApplicationTag: Data([2])] as [CFString: Any]
            #expect(SecItemAdd(other as CFDictionary, nil) == errSecSuccess)
            let all =
                [kSecClass: kSecClassKey, kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true] as [CFString: Any]
            #expect(SecItemCopyMatching(all as CFDictionary, &result) == errSecSuccess)
            #expect((result as? [Data])?.count == 1)
            // Any value other than a Boolean true means false, with any class that the dictionary gives for the key.
            for (flag, keyClass) in [("false" as Any, 1), (0, 0), (false, 2)] as [(Any, Int)] {
                let item =
                    [
                        kSecClass: kSecClassKey, kSecAttrKeyType: 73, kSecAttrKeyClass: keyClass,
                        kSecAttrIsExtractable: flag,
                        kSecAttrApplicationTag: Data([3, UInt8(keyClass)]), kSecValueData: Data("bytes".utf8),
                    ] as [CFString: Any]
                #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
                let one =
                    [
                        kSecClass: kSecClassKey, kSecAttrApplicationTag: Data([3, UInt8(keyClass)]),
                        kSecReturnData: true,
                    ] as [CFString: Any]
                #expect(SecItemCopyMatching(one as CFDictionary, nil) == -4)
            }
        }
    }

    @Test("A key does not sign or derive if its attributes forbid it", arguments: Backend.allCases)
    func usage(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let half = [kSecAttrIsPermanent: true, kSecAttrCanSign: false] as [CFString: Any]
            let key = try Self.random(Self.curve.merging([kSecPrivateKeyAttrs: half]) { $1 })
            #expect(
                Self.code { SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, Self.message as CFData, $0) }
                    == -67731)
            let open = try #require(SecKeyCopyPublicKey(key))
            #expect(SecKeyCopyKeyExchangeResult(key, .ecdhKeyExchangeStandard, open, [:] as CFDictionary, nil) != nil)
            // Decryption and key agreement have separate flags.
            let ecies = SecKeyAlgorithm.eciesEncryptionStandardX963SHA256AESGCM
            let cipher = try #require(SecKeyCreateEncryptedData(open, ecies, Self.message as CFData, nil))
            #expect(SecKeyCreateDecryptedData(key, ecies, cipher, nil) as Data? == Self.message)
            for (flag, agrees, decrypts) in [(kSecAttrCanDerive, -67731, 0), (kSecAttrCanDecrypt, 0, -67731)] {
                let half = [kSecAttrIsPermanent: true, flag: false] as [CFString: Any]
                let key = try Self.random(Self.curve.merging([kSecPrivateKeyAttrs: half]) { $1 })
                let publicHalf = try #require(SecKeyCopyPublicKey(key))
                let cipher = try #require(SecKeyCreateEncryptedData(publicHalf, ecies, Self.message as CFData, nil))
                #expect(
                    Self.code {
                        SecKeyCopyKeyExchangeResult(key, .ecdhKeyExchangeStandard, open, [:] as CFDictionary, $0)
                    } == agrees)
                #expect(Self.code { SecKeyCreateDecryptedData(key, ecies, cipher, $0) } == decrypts)
            }
            // Raw RSA can serve for signing and for decryption, so it needs both flags.
            for flag in [kSecAttrCanSign, kSecAttrCanDecrypt] {
                let half = [kSecAttrIsPermanent: true, flag: false] as [CFString: Any]
                let key = try Self.random(Self.rsa.merging([kSecPrivateKeyAttrs: half]) { $1 })
                let block = Data(count: 255) + Data([1])
                #expect(Self.code { SecKeyCreateSignature(key, .rsaSignatureRaw, block as CFData, $0) } == -67731)
                #expect(Self.code { SecKeyCreateDecryptedData(key, .rsaEncryptionRaw, block as CFData, $0) } == -67731)
            }
        }
    }

    @Test(
        "T101: a key of a locked class has no reference and cannot be used until the keychain is unlocked",
        arguments: Backend.allCases)
    func locked(_ backend: Backend) throws {
        try withKeychain(backend) { keychain in
            let passcode = SharedSecret(copying: "correct horse battery".utf8)
            try keychain.service.administrator.setPasscode(passcode) { _, _ in }
            let half =
                [
                    kSecAttrIsPermanent: true, kSecAttrAccessible: kSecAttrAccessibleWhenUnlocked,
                    kSecAttrApplicationTag: Data([1]),
                ]
                as [CFString: Any]
            let key = try Self.random(Self.curve.merging([kSecPrivateKeyAttrs: half]) { $1 })
            try keychain.service.administrator.lock(immediately: true)
            #expect(
                Self.code { SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, Self.message as CFData, $0) }
                    == -25308)
            let query =
                [kSecClass: kSecClassKey, kSecAttrApplicationTag: Data([1]), kSecReturnRef: true] as [CFString: Any]
            #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecInteractionNotAllowed)
            try keychain.service.administrator.unlock(passcode) { _, _ in }
            #expect(try Self.agree(key, try #require(SecKeyCopyPublicKey(key))))
        }
    }

    @Test(
        "Another program does not find a key of a foreign group, and cannot use it by its reference",
        arguments: Backend.allCases)
    func groups(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let half = [kSecAttrIsPermanent: true, kSecAttrApplicationTag: Data([1])] as [CFString: Any]
        let key = try keychain.run(groups: ["G1"]) {
            try Self.random(Self.curve.merging([kSecPrivateKeyAttrs: half]) { $1 })
        }
        keychain.run(groups: ["G2"]) {
            #expect(Self.count() == 0)
            #expect(
                Self.code { SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, Self.message as CFData, $0) }
                    == -25300)
            #expect(Self.code { SecKeyCopyExternalRepresentation(key, $0) } == -25300)
        }
    }

    @Test(
        "An item that does not hold a key, or holds a key of an unsupported type, has no reference",
        arguments: Backend.allCases)
    func noKey(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let garbage =
                [kSecClass: kSecClassKey, kSecAttrKeyType: 73, kSecAttrKeyClass: 1, kSecValueData: Data("v".utf8)]
                as [CFString: Any]
            #expect(SecItemAdd(garbage as CFDictionary, nil) == errSecSuccess)
            var result: CFTypeRef?
            #expect(
                SecItemCopyMatching([kSecClass: kSecClassKey, kSecReturnRef: true] as CFDictionary, &result)
                    == errSecDecode)
            let symmetric =
                [
                    kSecClass: kSecClassKey, kSecAttrKeyType: kSecAttrKeyTypeAES, kSecAttrApplicationTag: Data([2]),
                    kSecValueData: Data(count: 16),
                ] as [CFString: Any]
            #expect(SecItemAdd(symmetric as CFDictionary, nil) == errSecSuccess)
            let kept =
                [kSecClass: kSecClassKey, kSecAttrApplicationTag: Data([2]), kSecReturnRef: true] as [CFString: Any]
            #expect(SecItemCopyMatching(kept as CFDictionary, &result) == errSecUnimplemented)
            // Data without a valid reference is not stored if a reference is requested.
            for item in [garbage, symmetric] {
                let referred = item.merging([kSecReturnRef: true, kSecAttrApplicationTag: Data([9])]) { $1 }
                #expect(SecItemAdd(referred as CFDictionary, &result) != errSecSuccess)
                #expect(Self.count([kSecAttrApplicationTag: Data([9])]) == 0)
            }
            // Such items do not hide keys.
            let usable = [kSecValueRef: try Self.random(Self.curve)] as [CFString: Any]
            #expect(SecItemAdd(usable as CFDictionary, nil) == errSecSuccess)
            let all =
                [kSecClass: kSecClassKey, kSecMatchLimit: kSecMatchLimitAll, kSecReturnRef: true] as [CFString: Any]
            #expect(SecItemCopyMatching(all as CFDictionary, &result) == errSecSuccess)
            #expect((result as? [SecKey])?.count == 1)
        }
    }
}
