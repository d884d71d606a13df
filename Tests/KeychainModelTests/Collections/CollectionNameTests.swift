// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import Testing

@Suite("Collections as access groups")
struct CollectionNameTests {
    @Test(
        "Each collection has an access group, and is found by it",
        arguments: ["login", "Work", "Büro/1", "\u{301}a", String(repeating: "é", count: 64)])
    func groups(_ text: String) throws {
        let name = try #require(CollectionName(text))
        #expect(CollectionName(name.accessGroup) == name)
        #expect(name.accessGroup.grade == .claimed && name.accessGroup.isOfCollections)
        #expect(name.accessGroup.isCommon == (name != .login))
    }

    @Test("The collection login is the shared group")
    func login() {
        #expect(CollectionName.login.accessGroup == .shared)
    }

    @Test(
        "Other groups are no collections",
        arguments: [
            "com.example.app", "org.freedesktop.secrets", "org.freedesktop.secrets.", "org.freedesktop.secretsX",
            "org.freedesktop.secrets.login", "org.freedesktop.secrets.session", "flatpak.org.example.App",
        ])
    func others(_ text: String) {
        #expect(CollectionName(AccessGroup(text, grade: .claimed)) == nil)
    }

    @Test("An attested group of any name is no collection and not common")
    func attested() {
        for text in ["latchkey.shared", "org.freedesktop.secrets", "org.freedesktop.secrets.Work", "flatpak.org.a.B"] {
            let group = AccessGroup(text, grade: .attested)
            #expect(CollectionName(group) == nil && !group.isCommon && !group.isOfCollections)
        }
    }

    @Test("The records of collections and the groups of sandboxes are common")
    func common() {
        #expect(AccessGroup.collections.isCommon && AccessGroup.collections.isOfCollections)
        for text in ["flatpak.org.example.App", "snap.mail"] {
            let group = AccessGroup(text, grade: .claimed)
            #expect(group.isCommon && !group.isOfCollections)
        }
        for text in ["com.example.app", "latchkey.shared", "flatpak", "snapshot.a"] {
            #expect(!AccessGroup(text, grade: .claimed).isCommon)
        }
    }
}
