// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import LatchkeyClient
import LatchkeyOperations
import LatchkeySecurity
import LatchkeyService
import Testing

/// Keys of a Secure Enclave in the memory of the system's latchkeyd.
@Suite("Software enclave")
struct SoftwareEnclaveTests {
    private static var parameters: CFDictionary {
        [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
            kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
        ] as CFDictionary
    }

    private func allow() throws {
        let service = try KeychainClient.session()
        var settings = try service.lockStatus().settings
        settings.allowsSoftwareEnclave = true
        try service.changeSettings(to: settings, nil)
        #expect(try service.lockStatus().settings.allowsSoftwareEnclave)
    }

    @Test("A software enclave exists only where the owner allows it, and is marked as one")
    func marked() throws {
        let keychain = try TestKeychain(.systemDaemon, hardware: SecureHardware(offersSoftwareEnclave: true))
        try keychain.run(groups: ["G1"], isUserCommand: true) {
            var error: Unmanaged<CFError>?
            #expect(SecKeyCreateRandomKey(Self.parameters, &error) == nil)
            #expect(error.map { CFErrorGetCode($0.takeRetainedValue()) } == Int(errSecUnimplemented))
            #expect(try KeychainClient.session().status().enclave == nil)
            try allow()
            #expect(try KeychainClient.session().status().enclave == .software)
            let key = try #require(SecKeyCreateRandomKey(Self.parameters, &error))
            let attributes = try #require(SecKeyCopyAttributes(key) as? [String: Any])
            #expect(attributes[kSecAttrTokenID as String] as? String == "com.apple.setoken:software")
            let message = Data("m".utf8) as CFData
            let signature = try #require(SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message, nil))
            let publicKey = try #require(SecKeyCopyPublicKey(key))
            #expect(SecKeyVerifySignature(publicKey, .ecdsaSignatureMessageX962SHA256, message, signature, nil))
            #expect(SecKeyCopyExternalRepresentation(key, &error) == nil)
            // A program finds its key by the token that it has asked for.
            var found: CFTypeRef?
            let query =
                [kSecClass: kSecClassKey, kSecAttrTokenID: kSecAttrTokenIDSecureEnclave, kSecReturnRef: true]
                as CFDictionary
            #expect(SecItemCopyMatching(query, &found) == errSecSuccess)
        }
        let again = try keychain.reopened()
        try again.run(groups: ["G1"], isUserCommand: true) {
            let settings = try KeychainClient.session().lockStatus().settings
            #expect(settings.allowsSoftwareEnclave)
        }
    }

    @Test("The setting has no effect where programs of the user can read the memory", arguments: Backend.allCases)
    func elsewhere(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.run(groups: ["G1"], isUserCommand: true) {
            try allow()
            #expect(try KeychainClient.session().status().enclave == nil)
            var error: Unmanaged<CFError>?
            #expect(SecKeyCreateRandomKey(Self.parameters, &error) == nil)
        }
    }
}
