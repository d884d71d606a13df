// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Security
import Testing

/// Keychains as values of dictionaries, and access lists. EndToEndTests has the functions on several keychains, because
/// these need a home of their own.
@Suite("Keychains as parameters")
struct KeychainParameterTests {
    /// Calls of deprecated functions. Direct calls would cause warnings in a test.
    private protocol OlderCalls {
        func accessLists() throws
        func access(_ name: String, _ paths: [String]) throws -> SecAccess
        func login() -> SecKeychain?
    }

    private struct Older: OlderCalls {
        static var calls: any OlderCalls { Older() }

        @available(*, deprecated)
        func accessLists() throws {
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
            let own = [try #require(this)] as CFArray
            var ofThis: SecAccess?
            #expect(SecAccessCreate("token", own, &ofThis) == errSecSuccess)
            #expect(SecAccessCreate("token", nil, &access) == errSecSuccess)
            #expect(access == ofThis && access != nil)
            #expect(SecAccessCreate("token", ["/usr/bin/build"] as CFArray, &access) == errSecParam)
        }

        @available(*, deprecated)
        func access(_ name: String, _ paths: [String]) throws -> SecAccess {
            var programs: [SecTrustedApplication] = []
            for path in paths {
                var program: SecTrustedApplication?
                #expect(SecTrustedApplicationCreateFromPath(path, &program) == errSecSuccess)
                programs.append(try #require(program))
            }
            var access: SecAccess?
            #expect(SecAccessCreate(NSString(string: name), programs as CFArray, &access) == errSecSuccess)
            return try #require(access)
        }

        @available(*, deprecated)
        func login() -> SecKeychain? {
            var keychain: SecKeychain?
            return SecKeychainOpen("login.keychain-db", &keychain) == errSecSuccess ? keychain : nil
        }
    }

    @Test("Access lists and their programs are kept and shown")
    func accessLists() throws {
        try Older.calls.accessLists()
    }

    @Test(
        "An access list is kept with a password or a key and returned; an update replaces it, and it is no condition",
        arguments: Backend.allCases)
    func keptLists(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let access = try Older.calls.access("token", ["/usr/bin/build"])
            let other = try Older.calls.access("other", [])
            for itemClass in [genp, inet, keys] {
                let query = item(itemClass, ["labl": "L"])
                func stored() -> SecAccess? { copy(query.with(.returnAttributes)).attributes?["acls"] as? SecAccess }
                #expect(add(query.with(["acls": access])) == errSecSuccess)
                #expect(stored() == access)
                #expect(copy(query.with(["acls": other])).status == errSecSuccess)
                #expect(update(query, ["alis": "A"]) == errSecSuccess)
                #expect(stored() == access)
                #expect(update(query.with(["acls": access]), ["acls": other]) == errSecSuccess)
                #expect(stored() == other)
                #expect(delete(query.with(["acls": access])) == errSecSuccess)
                #expect(add(query) == errSecSuccess)
                #expect(copy(query.with(.returnAttributes)).attributes?["acls"] == nil)
            }
        }
    }

    @Test(
        "An access list is a SecAccess of a password or a key; anything else is refused",
        arguments: Backend.allCases)
    func refusedLists(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let access = try Older.calls.access("token", [])
            let large = try Older.calls.access("token", Array(repeating: "/usr/bin/build", count: 129))
            #expect(add(item(cert, ["acls": access])) == errSecNoSuchAttr)
            #expect(add(genericItem) == errSecSuccess)
            for value in ["x", 1, Data([1, 1, 0, 0, 0, 0]), NSNull(), large] as [Any] {
                #expect(add(genericItem.with(["acct": "B", "acls": value])) == errSecParam)
                #expect(update(genericKey, ["acls": value]) == errSecParam)
            }
            #expect(copy(item(genp).with(.all).with(.returnAttributes)).list?.count == 1)
        }
    }

    @Test("The access list of a generated or imported key is kept with it; a certificate gets none")
    func listsOfKeys() throws {
        let authority = try OpenSSLAuthority()
        let issued = try authority.server("example.com")
        let words = ["pkcs12", "-export", "-passout", "pass:pw", "-in", issued.file, "-inkey", issued.keyFile]
        let file = Data(try authority.openssl.output(words))
        try withKeychain(.ephemeral) { _ in
            let access = try Older.calls.access("token", ["/usr/bin/build"])
            let login = try #require(Older.calls.login())
            let half: Query = ["perm": true, "labl": "Generated", "acls": access]
            let pair: Query = ["type": "73", "bsiz": 256, "private": half]
            #expect(SecKeyCreateRandomKey(pair as CFDictionary, nil) != nil)
            let generated = copy(item(keys, ["labl": "Generated"]).with(.returnAttributes))
            #expect(generated.attributes?["acls"] as? SecAccess == access)
            #expect(delete(item(keys)) == errSecSuccess)
            var options: [CFString: Any] = [
                kSecImportExportPassphrase: "pw", kSecImportExportKeychain: login, kSecImportExportAccess: "x",
            ]
            var items: CFArray?
            #expect(SecPKCS12Import(file as CFData, options as CFDictionary, &items) == errSecParam)
            options[kSecImportExportAccess] = access
            #expect(SecPKCS12Import(file as CFData, options as CFDictionary, &items) == errSecSuccess)
            let imported = copy(item(keys).with(.returnAttributes))
            #expect(imported.attributes?["acls"] as? SecAccess == access)
            #expect(copy(item(cert).with(.returnAttributes)).attributes?["acls"] == nil)
        }
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
