// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import ThrowAwayKeychain
import XCTest

#if swift(>=6)
    @testable import HelpersSwift6
#else
    @testable import HelpersSwift5
#endif

final class PasswordStoreTests: XCTestCase {
    private let store = PasswordStore(service: UUID().uuidString)

    override func setUp() {
        super.setUp()
        useThrowAwayKeychain()
    }

    func testSavedPasswordIsLoaded() throws {
        for password in ["s3cret", "", "Schlüssel 🔑"] {
            try store.save(password, account: "alice \(password)")
            XCTAssertEqual(try store.load(account: "alice \(password)"), password)
        }
    }

    func testServicesAndAccountsAreApart() throws {
        try store.save("one", account: "alice")
        try store.save("two", account: "bob")
        try PasswordStore(service: store.service + ".other").save("three", account: "alice")
        XCTAssertEqual(try store.load(account: "alice"), "one")
        XCTAssertEqual(try store.load(account: "bob"), "two")
    }

    func testSecondPasswordOfAnAccountIsADuplicate() throws {
        try store.save("first", account: "alice")
        assertError(.duplicate) { try store.save("second", account: "alice") }
        XCTAssertEqual(try store.load(account: "alice"), "first")
    }

    func testUpdateReplacesThePassword() throws {
        try store.save("old", account: "alice")
        try store.update("new", account: "alice")
        XCTAssertEqual(try store.load(account: "alice"), "new")
    }

    func testDeletedPasswordIsGone() throws {
        try store.save("s3cret", account: "alice")
        try store.delete(account: "alice")
        assertError(.notFound) { _ = try store.load(account: "alice") }
        try store.delete(account: "alice")
    }

    func testWhatIsNotThereIsNotFound() {
        assertError(.notFound) { _ = try store.load(account: "alice") }
        assertError(.notFound) { try store.update("new", account: "alice") }
    }

    func testBytesThatAreNoTextAreUnexpected() throws {
        let item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: store.service,
            kSecAttrAccount as String: "alice",
            kSecValueData as String: Data([0xFF, 0xFE]),
        ]
        XCTAssertEqual(SecItemAdd(item as CFDictionary, nil), errSecSuccess)
        assertError(.unexpectedData) { _ = try store.load(account: "alice") }
    }

    func testEveryErrorHasAMessageOfItsOwn() {
        let errors: [KeychainError] = [.notFound, .duplicate, .unexpectedData, .unhandled(errSecParam)]
        let messages = errors.map { $0.localizedDescription }
        XCTAssertEqual(Set(messages).count, errors.count)
        XCTAssertFalse(messages.contains(""))
        XCTAssertEqual(messages.first, SecCopyErrorMessageString(errSecItemNotFound, nil) as String?)
    }

    private func assertError(_ expected: KeychainError, line: UInt = #line, _ body: () throws -> Void) {
        XCTAssertThrowsError(try body(), line: line) { error in
            XCTAssertEqual(error as? KeychainError, expected, line: line)
        }
    }
}
