// SPDX-License-Identifier: Apache-2.0

import Latchkey
import Security
import Testing
import ThrowAwayKeychain

/// `import Security` and `import Latchkey` use the same keychain.
@Suite("Security and Latchkey")
struct BothFacesTests {
    private let password = GenericPassword(service: UUID().uuidString, account: "alice")

    init() {
        useThrowAwayKeychain()
    }

    @Test("Latchkey reads items that Security stored")
    func securityToLatchkey() throws {
        var item = query
        item[kSecValueData as String] = Data("s3cret".utf8)
        #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
        #expect(try Keychain.default.string(for: password) == "s3cret")
    }

    @Test("Security reads items that Latchkey stored")
    func latchkeyToSecurity() throws {
        try Keychain.default.set(password, to: "first")
        try Keychain.default.set(password, to: "second")

        var search = query
        search[kSecReturnData as String] = true
        var result: CFTypeRef?
        #expect(SecItemCopyMatching(search as CFDictionary, &result) == errSecSuccess)
        #expect(result as? Data == Data("second".utf8))
    }

    private var query: [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: password.service,
            kSecAttrAccount as String: password.account,
        ]
    }
}
