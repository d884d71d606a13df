// SPDX-License-Identifier: Apache-2.0

/// A rule about code that stores, shows or protects secrets in a way that fails.
public struct CodeRule: Hashable, Sendable {
    /// Such as "C03": part of outputs, baselines, suppressions and configuration. It keeps its meaning.
    public let id: String
    /// For people, lowercase, without a full stop.
    public let title: String
    /// The harm, in sentences.
    public let why: String
    /// The remedy, in sentences.
    public let advice: String
    /// Swift that does it.
    public let fix: String
    /// The numbers of the tests of OWASP's MASTG.
    public let tests: [String]

    public static let all: [CodeRule] = [
        preferences, deleteThenAdd, alwaysAccessible, anyServer, policyWithoutName, comparedPins, arbitraryLoads,
        literalKey,
        weakPasswordHash, weakMode, oldPadding, visibleField, noCover, jailbreakFiles, ignoredStatus,
    ]

    public init?(id: String) {
        guard let rule = Self.all.first(where: { $0.id == id }) else { return nil }
        self = rule
    }

    private init(_ id: String, _ title: String, why: String, advice: String, fix: String, tests: [String]) {
        (self.id, self.title, self.why, self.advice, self.fix, self.tests) = (id, title, why, advice, fix, tests)
    }
}

extension CodeRule {
    static let preferences = CodeRule(
        "C01", "a secret in preferences",
        why:
            "Preferences are a property list that every program of the user, and every backup, can read. Base64 hides nothing.",
        advice: "Store it as an item of the keychain, with a protection class.",
        fix: #"try keychain.set(GenericPassword(service: "example.com", account: user), to: password)"#,
        tests: ["MASTG-TEST-0052"])
    static let deleteThenAdd = CodeRule(
        "C02", "an item is deleted and added again to change it",
        why: "The attributes that are not given again are lost, and a crash between both calls loses the item.",
        advice: "Update the item, and add it if there is none.",
        fix: """
            let status = SecItemUpdate(query as CFDictionary, changes as CFDictionary)
            if status == errSecItemNotFound { SecItemAdd(attributes as CFDictionary, nil) }
            """,
        tests: ["MASTG-TEST-0052"])
    static let alwaysAccessible = CodeRule(
        "C03", "an item that is accessible always",
        why:
            "kSecAttrAccessibleAlways is deprecated: the item opens while the device is locked, and before it was ever unlocked.",
        advice: "Use kSecAttrAccessibleWhenUnlocked, or AfterFirstUnlock for work in the background.",
        fix: "query[kSecAttrAccessible as String] = kSecAttrAccessibleWhenUnlockedThisDeviceOnly",
        tests: ["MASTG-TEST-0052"])
    static let anyServer = CodeRule(
        "C04", "a server is accepted without an evaluation of its certificate",
        why: "An attacker between both ends can show any certificate, and reads and changes everything.",
        advice: "Evaluate the trust object, and cancel the challenge if the evaluation fails.",
        fix: """
            guard SecTrustEvaluateWithError(trust, nil) else { return (.cancelAuthenticationChallenge, nil) }
            return (.useCredential, URLCredential(trust: trust))
            """,
        tests: ["MASTG-TEST-0066", "MASTG-TEST-0067"])
    static let policyWithoutName = CodeRule(
        "C05", "a server's certificate is evaluated without the name of the host",
        why: "SecPolicyCreateBasicX509 accepts a valid certificate of any other server.",
        advice: "Use the policy for TLS servers, with the name of the host.",
        fix: "SecTrustSetPolicies(trust, SecPolicyCreateSSL(true, host as CFString))",
        tests: ["MASTG-TEST-0067"])
    static let comparedPins = CodeRule(
        "C06", "pins are compared without an evaluation of the chain",
        why:
            "A certificate can be copied: a certificate alone proves nothing before the chain and the handshake are evaluated.",
        advice: "Evaluate the trust object first, and compare the key of the evaluated chain then.",
        fix:
            "guard SecTrustEvaluateWithError(trust, nil), pins.contains(hash(of: SecTrustCopyKey(trust))) else { return }",
        tests: ["MASTG-TEST-0068"])
    static let arbitraryLoads = CodeRule(
        "C07", "App Transport Security is off for every host",
        why: "Connections are made without TLS, or with an old version of it.",
        advice: "Name the hosts that need an exception, each with the weakest requirement that it needs.",
        fix: "NSExceptionDomains: { old.example.com: { NSExceptionMinimumTLSVersion: TLSv1.2 } }",
        tests: ["MASTG-TEST-0065", "MASTG-TEST-0066"])
    static let literalKey = CodeRule(
        "C08", "a key or a password in the code",
        why: "Every owner of the program can read it, also from an array of bytes, and it cannot be changed.",
        advice: "Generate a key on the device and keep it in the keychain, or leave the secret on the server.",
        fix: "let key = try keychain.generateKey(.secureEnclave, tag: \"com.example.key\")",
        tests: ["MASTG-TEST-0213", "MASTG-TEST-0214"])
    static let weakPasswordHash = CodeRule(
        "C09", "a password is hashed by MD5 or SHA-1",
        why: "Billions of passwords a second can be tried. Salt, shuffles and repetitions of MD5 do not change that.",
        advice: "Derive it slowly, with a random salt: PBKDF2 with 600,000 rounds at least, or Argon2id on the server.",
        fix:
            "CCKeyDerivationPBKDF(CCPBKDFAlgorithm(kCCPBKDF2), password, count, salt, 16, CCPseudoRandomAlgorithm(kCCPRFHmacAlgSHA256), 600_000, &key, 32)",
        tests: ["MASTG-TEST-0211"])
    static let weakMode = CodeRule(
        "C10", "encryption in ECB mode, or with a constant initialization vector or salt",
        why: "Equal plaintexts become equal ciphertexts, and nothing reveals a change.",
        advice: "Use an authenticated mode with a fresh nonce, such as AES-GCM or ChaCha20-Poly1305.",
        fix: "let box = try ChaChaPoly.seal(message, using: key)",
        tests: ["MASTG-TEST-0210"])
    static let oldPadding = CodeRule(
        "C11", "RSA encryption with the padding of PKCS #1 version 1.5",
        why: "A receiver that tells wrong padding from other errors decrypts for an attacker (Bleichenbacher).",
        advice: "Use OAEP, or a hybrid scheme such as HPKE.",
        fix: "SecKeyCreateEncryptedData(key, .rsaEncryptionOAEPSHA256AESGCM, message, &error)",
        tests: ["MASTG-TEST-0210"])
    static let visibleField = CodeRule(
        "C12", "a field for a secret shows it, or lets the keyboard learn it",
        why: "The keyboard keeps words in the clear, and people nearby read the screen.",
        advice: "Use a secure field, without autocorrection.",
        fix: "SecureField(\"Password\", text: $password)",
        tests: ["MASTG-TEST-0055", "MASTG-TEST-0057"])
    static let noCover = CodeRule(
        "C13", "the screen is not covered when the app becomes inactive",
        why: "The system keeps a picture of the screen for its list of apps, as a plain file.",
        advice: "Cover the window, or clear secret fields, when the app resigns active.",
        fix: "func sceneWillResignActive(_ scene: UIScene) { window?.addSubview(cover) }",
        tests: ["MASTG-TEST-0059"])
    static let jailbreakFiles = CodeRule(
        "C14", "a jailbroken device is recognized by files",
        why: "The test is skipped by one changed instruction, and finds honest devices.",
        advice: "Decide on the server, and treat the device as unknown; attest its keys.",
        fix: "let attestation = try key.attestation(challenge: challengeOfTheServer)",
        tests: ["MASTG-TEST-0240", "MASTG-TEST-0241"])
    static let ignoredStatus = CodeRule(
        "C15", "the status of a SecItem call is ignored",
        why: "The secret may not be stored, or not be deleted, and no program notices.",
        advice: "Compare the status with errSecSuccess, and report the others.",
        fix: "guard SecItemAdd(attributes as CFDictionary, nil) == errSecSuccess else { throw StorageError.notStored }",
        tests: ["MASTG-TEST-0052"])
}
