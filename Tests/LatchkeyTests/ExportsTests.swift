// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyPayloads
import Testing

/// The types that a program with `import Latchkey` alone (and Foundation) can name and use, and those that
/// `import LatchkeyPayloads` adds (it exports Latchkey). The test fails if this file does not compile.
@Suite("Exports of Latchkey")
struct ExportsTests {
    /// Every type in a public declaration of the module.
    private static let named: [String: Any.Type] = [
        "AccessControl": AccessControl.self, "AuthenticationFailure": AuthenticationFailure.self,
        "AccessControlFlags": AccessControlFlags.self, "AccessGroup": AccessGroup.self,
        "AgreementKey": AgreementKey<P256Curve>.self,
        "AgreementPublicKey": AgreementPublicKey<P256Curve>.self,
        "AsyncKey": AsyncKey<P256SigningKey>.self, "AsyncKeychain": AsyncKeychain.self,
        "AttributeValue": AttributeValue.self,
        "AttestedEnclaveKey": AttestedEnclaveKey.self, "ContentDigest": ContentDigest.self,
        "EnclaveAttestationChallenge": EnclaveAttestationChallenge.self,
        "EnclaveAttestationVerifier": EnclaveAttestationVerifier.self,
        "EnclaveKind": EnclaveKind.self, "EnclaveSharedSecret": EnclaveSharedSecret.self,
        "SecureEnclave": SecureEnclave.self, "SecureEnclaveHandle": SecureEnclaveHandle.self,
        "FileProtectionClass": FileProtectionClass.self, "ProtectedDirectory": ProtectedDirectory.self,
        "ProtectedFile": ProtectedFile.self,
        "ProtectedFileHandle": ProtectedFileHandle.self, "ProtectedFileChunks": ProtectedFileChunks.self,
        "FileSeal": FileSeal.self, "FileSealAlgorithm": FileSealAlgorithm.self, "FileSealKey": FileSealKey.self,
        "FileSealVerificationKey": FileSealVerificationKey.self,
        "GenericPassword": GenericPassword.self, "HashAlgorithm": HashAlgorithm.self,
        "HTTPComponent": HTTPComponent.self, "HTTPField": HTTPField.self,
        "HTTPMessageHead": HTTPMessageHead.self, "HTTPMessageVerifier": HTTPMessageVerifier.self,
        "HTTPSignature": HTTPSignature.self, "HTTPSignatureAlgorithm": HTTPSignatureAlgorithm.self,
        "HTTPSignatureParameters": HTTPSignatureParameters.self, "HTTPSignaturePolicy": HTTPSignaturePolicy.self,
        "HTTPSigningKey": HTTPSigningKey.self, "HTTPVerificationKey": HTTPVerificationKey.self,
        "VerifiedHTTPSignature": VerifiedHTTPSignature.self,
        "InternetPassword": InternetPassword.self,
        "ItemAttribute": ItemAttribute.self, "ItemClass": ItemClass.self, "ItemIdentifier": ItemIdentifier.self,
        "ItemRecord": ItemRecord.self, "ItemSchema": ItemSchema.self, "ItemSecrets": ItemSecrets.self,
        "KeyHandle": KeyHandle.self,
        "KeyKind": KeyKind.self, "KeyType": KeyType.self, "KeybagSettings": KeybagSettings.self,
        "Keychain": Keychain.self,
        "KeychainChange": KeychainChange.self, "KeychainError": KeychainError.self,
        "KeychainItem": KeychainItem<String>.self,
        "KeychainFinding": KeychainFinding.self, "KeychainInfo": KeychainInfo.self,
        "LockState": LockState.self,
        "LockStatus": LockStatus.self, "OSStatusCode": OSStatusCode.self, "P256Curve": P256Curve.self,
        "P384Curve": P384Curve.self,
        "P521Curve": P521Curve.self, "P256SigningKey": P256SigningKey.self, "P384SigningKey": P384SigningKey.self,
        "P521SigningKey": P521SigningKey.self, "P256AgreementKey": P256AgreementKey.self,
        "P384AgreementKey": P384AgreementKey.self,
        "P521AgreementKey": P521AgreementKey.self, "PasscodeGuess": PasscodeGuess.self,
        "PayloadBox": PayloadBox.self, "PayloadPrivateKey": PayloadPrivateKey.self,
        "PayloadPublicKey": PayloadPublicKey.self, "PayloadSuite": PayloadSuite.self,
        "PersistentReference": PersistentReference.self,
        "ProtectionClass": ProtectionClass.self, "RSAEncryptionScheme": RSAEncryptionScheme.self,
        "RSAPrivateKey": RSAPrivateKey.self,
        "RSAPublicKey": RSAPublicKey.self, "RSASignatureScheme": RSASignatureScheme.self,
        "SharedSecret": SharedSecret.self,
        "SigningKey": SigningKey<P256Curve>.self, "StoredFile": StoredFile.self,
        "VerifyingKey": VerifyingKey<P256Curve>.self,
    ]
    /// Types that cannot be elements of the list: protocols and noncopyable types.
    private static let others: Set<String> = [
        "AccessControlObject", "AuthenticationContextObject", "FileSealInput", "KeyCurve", "KeychainKey",
        "PasswordCondition", "PasswordItem", "PayloadOpener",
        "PayloadSealer", "SecretBytes",
        "SecretConvertible", "SecureEnclaveKey",
    ]
    private static func useOthers<Key: KeychainKey, Item: PasswordItem, Condition: PasswordCondition, Curve: KeyCurve>(
        _: Key, _: Item, _: Condition, _: Curve, _: some SecretConvertible, _: borrowing SecretBytes,
        _: borrowing PayloadSealer, _: borrowing PayloadOpener, _: borrowing FileSealInput,
        _: any AccessControlObject, _: any AuthenticationContextObject, _: any SecureEnclaveKey
    ) {}

    /// Types of Swift, Foundation and swift-crypto.
    private static let foreign: Set<String> = [
        "Any", "AsyncIteratorProtocol", "AsyncSequence", "AsyncStream", "AsyncThrowingStream", "ContiguousBytes",
        "Bool", "CaseIterable",
        "Codable", "Copyable", "Crypto", "Data", "DataProtocol",
        "Decodable", "Digest", "Double", "Element", "Encodable", "HashFunction", "SymmetricKey",
        "UnsafeRawBufferPointer",
        "Date", "Hashable", "Hasher", "Int", "Int64", "KeyAgreement",
        "ECDSASignature", "NSOSStatusErrorDomain", "P256", "P384", "P521", "PrivateKey", "PublicKey",
        "RawRepresentable", "Self", "Sendable", "Set",
        "Signing", "String",
        "UInt16", "UInt32", "UInt64", "UInt8", "Void", "LocalizedError", "Error",
    ]
    /// Types declared within types, and generic parameters.
    private static let inner: Set<String> = [
        "Access", "Condition", "Constraint", "Curve", "Hash", "Item", "Key", "Result", "Scheme", "Type", "Value",
    ]

    @Test(
        "Every type in a public declaration can be named by a program that imports only the module",
        arguments: [("Latchkey", 100), ("LatchkeyPayloads", 30)])
    func allNamed(_ module: String, _ min: Int) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../Sources/Faces/\(module)"
        ).standardized
        let known = Set(Self.named.keys).union(Self.others).union(Self.foreign).union(Self.inner)
        var count = 0
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where path.hasSuffix(".swift") {
            guard path != "Exports.swift" else { continue }
            let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
            let code = text.split(separator: "\n").filter { !$0.trimmingPrefix(while: \.isWhitespace).hasPrefix("//") }
                .joined(
                    separator: "\n")
            // A declaration ends at the start of its body or its value.
            for declaration in code.matches(
                of:
                    /public (?!import)(?:static |private\(set\) |mutating )*(?:func|init|var|let|struct|enum|typealias|protocol)[^{=]*/
            ) {
                let words = declaration.output.replacing(/"[^"]*"/, with: "")
                for name in words.matches(of: /\b[A-Z][A-Za-z0-9]*\b/).map({ String($0.output) }) {
                    count += 1
                    #expect(known.contains(name), "\(path) names \(name)")
                }
            }
        }
        #expect(count > min)
    }

    @Test("Every exported type is in the list, and nothing else")
    func allExported() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../Sources/Faces/Latchkey/Exports.swift"
        )
        .standardized
        let text = try String(contentsOf: file, encoding: .utf8)
        let exported = Set(text.matches(of: /@_exported public import \w+ \w+\.(\w+)/).map { String($0.1) })
        #expect(exported.count == 28)
        #expect(exported.subtracting(Self.named.keys).subtracting(Self.others).isEmpty)
    }

    @Test("An error provides its problem, its item and its hint to Foundation")
    func error() throws {
        let keychain = try Keychain.ephemeral()
        let item = GenericPassword(service: "example.com", account: "alice")
        let error = try #require(throws: KeychainError.self) { _ = try keychain.string(for: item) }
        #expect(error.item == "generic password, service example.com, account alice")
        #expect(!error.description.contains("alice"), "names are not in the description")
        #expect(error.localizedDescription == error.problem)
        #expect(error.failureReason?.contains("account alice (errSecItemNotFound (-25300))") == true)
        let hinted = KeychainError(OSStatusCode(rawValue: -50), "a problem", hint: "a hint")
        #expect(hinted.recoverySuggestion == "a hint" && hinted.errorDescription == "a problem" && hinted.item == nil)
    }

    @Test("Each call about an item names it in its error, and never the secret")
    func items() throws {
        let keychain = try Keychain.ephemeral()
        let site = InternetPassword(server: "example.org", account: "bob")
        try keychain.add(site, secret: "s3cret")
        let calls: [() throws -> Void] = [
            { try keychain.add(site, secret: "s3cret") },
            { try keychain.delete(InternetPassword(server: "example.org", account: "carol")) },
            { _ = try keychain.data(for: InternetPassword(server: "example.org", account: "carol")) },
            { try keychain.set(site, to: String(repeating: "s3cret", count: 1 << 20)) },
        ]
        for call in calls {
            let error = try #require(throws: KeychainError.self) { try call() }
            #expect(error.item?.hasPrefix("internet password, server example.org, account ") == true)
            #expect(!"\(error) \((error as NSError).userInfo)".contains("s3cret"))
        }
    }
}
