// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import LocalAuthentication
import Security
import Testing

/// The lines of Swift in the articles of LatchkeyLocalAuthentication.docc. DocumentationPagesTests
/// compares them.
@Suite("Articles of LatchkeyLocalAuthentication")
struct ArticleTests {
    private func add(_ token: Data) throws {
        let control = SecAccessControlCreateWithFlags(
            nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, .userPresence, nil)
        let item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "example.com",
            kSecAttrAccessControl as String: try #require(control), kSecValueData as String: token,
        ]
        #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
    }

    private func token(reportingTo receive: (String, Int) -> Void) async -> Data? {
        let context = LAContext()
        var problem: NSError?
        let canAsk = context.canEvaluatePolicy(.deviceOwnerAuthentication, error: &problem)
        let sensor = context.biometryType
        #expect(canAsk && problem == nil && sensor == .touchID)
        func report(_ text: String, code: Int) { receive(text, code) }
        do {
            try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "Show the token")
        } catch LAError.userCancel {
            return nil
        } catch let error as LAError {
            report(error.localizedDescription, code: error.code.rawValue)
        } catch {
            Issue.record(error)
        }
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: "example.com",
            kSecUseAuthenticationContext as String: context,
            kSecReturnData as String: true,
        ]
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        return status == errSecSuccess ? result as? Data : nil
    }

    @Test("The lines of \"Unlock an item\" open the item with one prompt")
    func item() async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            try add(Data("s3cret".utf8))
            let token = await token { _, _ in Issue.record("the evaluation failed") }
            #expect(token == Data("s3cret".utf8) && keychain.prompts.count == 1)
        }
    }

    @Test("The same lines return nothing for a person who cancels, and report a failure")
    func failures() async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            try add(Data("s3cret".utf8))
            keychain.change { $0.person = .fails(.userCancel) }
            let cancelled = await token { _, _ in Issue.record("a cancellation is not reported") }
            #expect(cancelled == nil && keychain.prompts.count == 1)
            keychain.change { $0.person = .fails(.failed) }
            var codes: [Int] = []
            let failed = await token { codes.append($1) }
            #expect(failed == nil && codes == [-1])
        }
    }

    @Test("The lines of \"Protect with a right\" save, open and remove a right")
    func right() async throws {
        let (token, message) = (Data("s3cret".utf8), Data("message".utf8))
        let keychain = FakeKeychain()
        try await keychain.run {
            let right = LARight(requirement: .biometry(fallback: .devicePasscode))
            let saved = try await LARightStore.shared.saveRight(right, identifier: "vault", secret: token)
            #expect(saved.state == .unknown)
            let vault = try await LARightStore.shared.right(forIdentifier: "vault")
            try await vault.authorize(localizedReason: "Open the vault")
            let secret = try await vault.secret.rawData
            let signature = try await vault.key.sign(message, algorithm: .ecdsaSignatureMessageX962SHA256)
            await vault.deauthorize()
            #expect(secret == token && !signature.isEmpty)
            try await LARightStore.shared.removeRight(forIdentifier: "vault")
            #expect(keychain.snapshot.items.isEmpty)
        }
    }
}
