// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import Testing
import ThrowAwayKeychain

#if swift(>=6)
    @testable import HelpersSwift6
#else
    @testable import HelpersSwift5
#endif

@Suite("AccessControlledItem")
struct AccessControlledItemTests {
    private let item = AccessControlledItem(service: UUID().uuidString, account: "alice")

    init() {
        useThrowAwayKeychain()
    }

    @Test("a secret is stored with its access control and read back")
    func saveAndLoad() throws {
        try item.save(Data("s3cret".utf8))
        #expect(try item.load() == Data("s3cret".utf8))
    }

    @Test("a second secret is a duplicate")
    func duplicate() throws {
        try item.save(Data("first".utf8))
        #expect(throws: KeychainError.unhandled(errSecDuplicateItem)) { try item.save(Data("second".utf8)) }
        #expect(try item.load() == Data("first".utf8))
    }

    @Test("a missing item is not found")
    func absent() {
        #expect(throws: KeychainError.notFound) { try item.load() }
    }

    @Test("access controls with the same content are equal")
    func equality() throws {
        let control = try AccessControlledItem.accessControl(.userPresence)
        #expect(try control == AccessControlledItem.accessControl(.userPresence))
        #expect(
            try control != AccessControlledItem.accessControl(.userPresence, protection: kSecAttrAccessibleWhenUnlocked)
        )
        #expect(CFGetTypeID(control) == SecAccessControlGetTypeID())
    }

    @Test("contradictory flags are refused with an error")
    func contradiction() throws {
        do {
            _ = try AccessControlledItem.accessControl([.userPresence, .devicePasscode])
            Issue.record("an access control was made")
        } catch let error as NSError {
            #expect(error.domain == NSOSStatusErrorDomain)
            #expect(error.code == Int(errSecParam))
            #expect(!error.localizedDescription.isEmpty)
        }
    }

    @Test("an item with contradictory flags is not stored")
    func contradictionIsNotStored() {
        #expect(throws: (any Error).self) {
            try item.save(Data("s3cret".utf8), flags: [.biometryAny, .biometryCurrentSet])
        }
        #expect(throws: KeychainError.notFound) { try item.load() }
    }
}
