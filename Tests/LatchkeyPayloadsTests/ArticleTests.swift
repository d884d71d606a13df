// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyPayloads
import Testing

/// The lines of the articles, compiled and run.
@Suite("Articles of LatchkeyPayloads")
struct ArticleTests {
    @Test("A payload is sealed to a key of a keychain, and opened by it")
    func payload() throws {
        let keychain = try Keychain.ephemeral()
        let stored = try keychain.generate(P256AgreementKey.self, tag: "com.example.orders", isExtractable: false)
        let key = try PayloadPrivateKey(stored)
        let box = try PayloadBox.seal("an order", to: key.publicKey)
        let order = try PayloadBox.open(box, with: key)
        #expect(order.withUnsafeBytes { Array($0) } == Array("an order".utf8))
    }
}
