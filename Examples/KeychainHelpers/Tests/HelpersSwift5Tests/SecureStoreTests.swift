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

final class SecureStoreTests: XCTestCase {
    private let service = UUID().uuidString
    private let server = UUID().uuidString.lowercased() + ".example.com"

    override func setUp() {
        super.setUp()
        useThrowAwayKeychain()
    }

    // MARK: Generic passwords

    func testValueIsStoredThenReplaced() throws {
        let store = SecureStore(queryable: GenericPasswordQueryable(service: service))
        XCTAssertNil(try store.value(for: "alice"))
        try store.setValue("first", for: "alice")
        XCTAssertEqual(try store.value(for: "alice"), "first")
        try store.setValue("second", for: "alice")
        XCTAssertEqual(try store.value(for: "alice"), "second")
    }

    func testRemovedValueIsGone() throws {
        let store = SecureStore(queryable: GenericPasswordQueryable(service: service))
        try store.setValue("one", for: "alice")
        try store.setValue("two", for: "bob")
        try store.removeValue(for: "alice")
        XCTAssertNil(try store.value(for: "alice"))
        XCTAssertEqual(try store.value(for: "bob"), "two")
        try store.removeValue(for: "alice")
    }

    func testRemovingAllValuesLeavesOtherServicesAlone() throws {
        let store = SecureStore(queryable: GenericPasswordQueryable(service: service))
        let other = SecureStore(queryable: GenericPasswordQueryable(service: service + ".other"))
        try store.setValue("one", for: "alice")
        try store.setValue("two", for: "bob")
        try other.setValue("three", for: "alice")
        try store.removeAllValues()
        XCTAssertNil(try store.value(for: "alice"))
        XCTAssertNil(try store.value(for: "bob"))
        XCTAssertEqual(try other.value(for: "alice"), "three")
        try store.removeAllValues()
    }

    func testAccessGroup() throws {
        try SecureStore(queryable: GenericPasswordQueryable(service: service)).setValue("s3cret", for: "alice")
        let group = try XCTUnwrap(groupOfFirstItem())

        let shared = SecureStore(queryable: GenericPasswordQueryable(service: service, accessGroup: group))
        XCTAssertEqual(try shared.value(for: "alice"), "s3cret")

        let foreign = SecureStore(
            queryable: GenericPasswordQueryable(service: service, accessGroup: "com.example.somebody.else"))
        XCTAssertThrowsError(try foreign.value(for: "alice")) { error in
            XCTAssertEqual(error as? KeychainError, .unhandled(errSecMissingEntitlement))
        }
    }

    // MARK: Internet passwords

    func testEveryProtocolIsAnItemOfItsOwn() throws {
        for internetProtocol in InternetProtocol.allCases {
            try store(internetProtocol).setValue("added \(internetProtocol)", for: "alice")
        }
        for internetProtocol in InternetProtocol.allCases {
            XCTAssertEqual(try store(internetProtocol).value(for: "alice"), "added \(internetProtocol)")
            try store(internetProtocol).setValue("changed \(internetProtocol)", for: "alice")
            XCTAssertEqual(try store(internetProtocol).value(for: "alice"), "changed \(internetProtocol)")
        }
        try store(.https).removeAllValues()
        for internetProtocol in InternetProtocol.allCases {
            XCTAssertEqual(try store(internetProtocol).value(for: "alice") == nil, internetProtocol == .https)
        }
    }

    func testEveryAuthenticationTypeIsAnItemOfItsOwn() throws {
        for type in InternetAuthenticationType.allCases {
            try store(.https, type).setValue("\(type)", for: "alice")
        }
        for type in InternetAuthenticationType.allCases {
            XCTAssertEqual(try store(.https, type).value(for: "alice"), "\(type)")
        }
    }

    func testStoredProtocolAndAuthenticationTypeAreTheConstants() throws {
        try store(.imaps, .httpDigest).setValue("s3cret", for: "alice")
        let query: [String: Any] = [
            kSecClass as String: kSecClassInternetPassword,
            kSecAttrServer as String: server,
            kSecReturnAttributes as String: true,
        ]
        var result: CFTypeRef?
        XCTAssertEqual(SecItemCopyMatching(query as CFDictionary, &result), errSecSuccess)

        let attributes = try XCTUnwrap(result as? [String: Any])
        XCTAssertEqual(
            (attributes[kSecAttrProtocol as String] as? String).flatMap(InternetProtocol.init(rawValue:)), .imaps)
        let type = attributes[kSecAttrAuthenticationType as String] as? String
        XCTAssertEqual(type.flatMap(InternetAuthenticationType.init(rawValue:)), .httpDigest)
        XCTAssertEqual(attributes[kSecAttrPort as String] as? Int, 8443)
        XCTAssertEqual(attributes[kSecAttrPath as String] as? String, "/login")
        XCTAssertEqual(attributes[kSecAttrSecurityDomain as String] as? String, "staff")
    }

    func testRawValuesGoBothWays() {
        for internetProtocol in InternetProtocol.allCases {
            XCTAssertEqual(InternetProtocol(rawValue: internetProtocol.rawValue), internetProtocol)
        }
        for type in InternetAuthenticationType.allCases {
            XCTAssertEqual(InternetAuthenticationType(rawValue: type.rawValue), type)
        }
        XCTAssertEqual(Set(InternetProtocol.allCases.map { $0.rawValue }).count, 31)
        XCTAssertEqual(Set(InternetAuthenticationType.allCases.map { $0.rawValue }).count, 8)
        XCTAssertNil(InternetProtocol(rawValue: "gopher"))
        XCTAssertNil(InternetAuthenticationType(rawValue: "handshake"))
    }

    // MARK: Helpers

    private func store(_ internetProtocol: InternetProtocol, _ type: InternetAuthenticationType = .default)
        -> SecureStore
    {
        SecureStore(
            queryable: InternetPasswordQueryable(
                server: server,
                port: 8443,
                path: "/login",
                securityDomain: "staff",
                internetProtocol: internetProtocol,
                internetAuthenticationType: type
            )
        )
    }

    private func groupOfFirstItem() -> String? {
        var query = GenericPasswordQueryable(service: service).query
        query[kSecReturnAttributes as String] = true
        var result: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess else { return nil }
        return (result as? [String: Any])?[kSecAttrAccessGroup as String] as? String
    }
}
