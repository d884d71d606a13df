// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Security
import Testing

/// Keychains as values of dictionaries, and access lists. EndToEndTests has the functions on several
/// keychains, which need a home of their own.
@Suite("Keychains as parameters")
struct KeychainParameterTests {
    /// What calls deprecated functions, which would cause warnings in a test.
    private protocol OlderCalls {
        static func accessLists() throws
        static func login() -> SecKeychain?
    }

    private enum Older: OlderCalls {
        static var calls: any OlderCalls.Type { Older.self }

        @available(*, deprecated)
        static func accessLists() throws {
            var program: SecTrustedApplication?
            var this: SecTrustedApplication?
            #expect(SecTrustedApplicationCreateFromPath("/usr/bin/build", &program) == errSecSuccess)
            #expect(SecTrustedApplicationCreateFromPath(nil, &this) == errSecSuccess)
            #expect(this != program)
            #expect(program?.description == "<SecTrustedApplication: /usr/bin/build>")
            var data: CFData?
            #expect(SecTrustedApplicationCopyData(try #require(program), &data) == errSecSuccess)
            #expect(data.map { $0 as Data } == Data("/usr/bin/build\0".utf8))
            var access: SecAccess?
            let list = [try #require(program)] as CFArray
            #expect(SecAccessCreate("token", list, &access) == errSecSuccess)
            #expect(access?.description == "<SecAccess: token, for /usr/bin/build>")
            #expect(CFGetTypeID(access) == SecAccessGetTypeID())
            #expect(SecAccessCreate("token", nil, &access) == errSecSuccess)
            #expect(access?.description == "<SecAccess: token, for this program>")
            #expect(SecAccessCreate("token", ["/usr/bin/build"] as CFArray, &access) == errSecParam)
        }

        @available(*, deprecated)
        static func login() -> SecKeychain? {
            var keychain: SecKeychain?
            return SecKeychainOpen("/anywhere/login.keychain-db", &keychain) == errSecSuccess ? keychain : nil
        }
    }

    @Test("Access lists and their programs are kept and shown")
    func accessLists() throws {
        try Older.calls.accessLists()
    }

    @Test("Two objects for one keychain are equal, and have a type of their own")
    func identity() throws {
        let keychain = try TestKeychain(.ephemeral)
        try keychain.run(groups: nil) {
            let login = try #require(Older.calls.login())
            #expect(login == Older.calls.login())
            #expect(login.hash == Older.calls.login()?.hash)
            #expect(login.description == "<SecKeychain: login>")
            #expect(CFGetTypeID(login) == SecKeychainGetTypeID())
            #expect(SecKeychainGetTypeID() != SecKeychainItemGetTypeID())
        }
    }

    @Test(
        "A keychain in a dictionary must be a SecKeychain, and a search list an array of them",
        arguments: Backend.allCases)
    func types(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(genericItem)
            for value in ["login", 1, [1], true, Data()] as [Any] {
                let use: Query = ["u_Keychain": value]
                #expect(add(genericItem.with(["acct": "B"]).with(use)) == errSecParam)
                for query in [use, ["m_SearchList": value]] {
                    #expect(copy(genericKey.with(query)).status == errSecParam)
                    #expect(update(genericKey.with(query), ["icmt": "C"]) == errSecParam)
                    #expect(delete(genericKey.with(query)) == errSecParam)
                }
            }
            #expect(copy(genericKey.with(["m_SearchList": [Any]()])).status == errSecItemNotFound)
            #expect(copy(genericKey.with(.returnData)).text == "s3cret")
        }
    }

    @Test("The user's own keychain can be named in a dictionary", arguments: Backend.allCases)
    func login(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let login = try #require(Older.calls.login())
            #expect(add(genericItem.with(["u_Keychain": login])) == errSecSuccess)
            #expect(add(genericItem) == errSecDuplicateItem)
            #expect(copy(genericKey.with(["m_SearchList": [login]]).with(.returnData)).text == "s3cret")
            #expect(update(genericKey.with(["m_SearchList": [login]]), ["icmt": "C"]) == errSecSuccess)
            #expect(delete(genericKey.with(["m_SearchList": [login]])) == errSecSuccess)
            #expect(copy(genericKey).status == errSecItemNotFound)
        }
    }
}
