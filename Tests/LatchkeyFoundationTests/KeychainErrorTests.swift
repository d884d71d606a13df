// SPDX-License-Identifier: Apache-2.0

import Foundation
import Latchkey
import LatchkeyFoundation
import Testing

@Suite("A keychain's error as NSError")
struct KeychainErrorTests {
    @Test("An error provides its number, its problem, its item and its hint to Foundation")
    func bridging() throws {
        let keychain = try Keychain.ephemeral()
        let item = GenericPassword(service: "example.com", account: "alice")
        let error = try #require(throws: KeychainError.self) { _ = try keychain.string(for: item) }
        let bridged = error as NSError
        #expect(bridged.domain == NSOSStatusErrorDomain && bridged.code == -25300)
        #expect(bridged.localizedDescription == "no matching item")
        #expect(bridged.localizedFailureReason?.contains("account alice (errSecItemNotFound (-25300))") == true)
        #expect(bridged.userInfo[KeychainError.itemErrorKey] as? String == error.item)
        let hinted = KeychainError(OSStatusCode(rawValue: -50), "a problem", hint: "a hint") as NSError
        #expect(hinted.localizedRecoverySuggestion == "a hint" && hinted.userInfo[KeychainError.itemErrorKey] == nil)
    }
}
