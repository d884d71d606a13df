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

@Suite("KeychainWrapper")
struct KeychainWrapperTests {
    private let wrapper = KeychainWrapper(serviceName: UUID().uuidString)

    init() {
        useThrowAwayKeychain()
    }

    @Test("each type is returned as it was stored")
    func types() {
        #expect(wrapper.set("s3cret", forKey: "text"))
        #expect(wrapper.set(Data([0x00, 0xFF]), forKey: "data"))
        #expect(wrapper.set(-42, forKey: "number"))
        #expect(wrapper.set(false, forKey: "flag"))
        #expect(wrapper.string(forKey: "text") == "s3cret")
        #expect(wrapper.data(forKey: "data") == Data([0x00, 0xFF]))
        #expect(wrapper.integer(forKey: "number") == -42)
        #expect(wrapper.bool(forKey: "flag") == false)
    }

    @Test("a value of another type gives nil")
    func wrongTypes() {
        wrapper.set("s3cret", forKey: "text")
        wrapper.set(Data([0xFF]), forKey: "data")
        #expect(wrapper.integer(forKey: "text") == nil)
        #expect(wrapper.bool(forKey: "text") == nil)
        #expect(wrapper.string(forKey: "data") == nil)
    }

    @Test("a second value replaces the first")
    func overwriting() {
        #expect(wrapper.set("first", forKey: "key"))
        #expect(wrapper.set("second", forKey: "key"))
        #expect(wrapper.string(forKey: "key") == "second")
        #expect(wrapper.allKeys() == ["key"])
    }

    @Test("a missing value is nil and cannot be removed")
    func absent() {
        #expect(!wrapper.hasValue(forKey: "key"))
        #expect(wrapper.string(forKey: "key") == nil)
        #expect(wrapper.dataRef(forKey: "key") == nil)
        #expect(wrapper.accessibilityOfKey("key") == nil)
        #expect(!wrapper.removeObject(forKey: "key"))
        #expect(wrapper.allKeys().isEmpty)
    }

    @Test("subscripts read, write and remove")
    func subscripts() {
        wrapper["text"] = "s3cret"
        wrapper[.launches] = 3
        wrapper[.isTrusted] = true
        wrapper[.name] = "alice"

        let launches: Int? = wrapper[.launches]
        let isTrusted: Bool? = wrapper[.isTrusted]
        let name: String? = wrapper[.name]
        #expect(wrapper["text"] == "s3cret")
        #expect(launches == 3)
        #expect(isTrusted == true)
        #expect(name == "alice")

        wrapper["text"] = nil
        #expect(!wrapper.hasValue(forKey: "text"))
    }

    @Test("all keys are listed, whether they are stored as data or as text")
    func allKeys() {
        wrapper.set("one", forKey: "first")
        wrapper.set(2, forKey: "zweiter Schlüssel")
        let foreign: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: wrapper.serviceName,
            kSecAttrAccount as String: "third",
            kSecValueData as String: Data("three".utf8),
        ]
        #expect(SecItemAdd(foreign as CFDictionary, nil) == errSecSuccess)
        #expect(wrapper.allKeys() == ["first", "zweiter Schlüssel", "third"])
    }

    @Test("all keys are removed, and those of other services stay")
    func removeAllKeys() {
        let other = KeychainWrapper(serviceName: wrapper.serviceName + ".other")
        wrapper.set("one", forKey: "first")
        wrapper.set("two", forKey: "second")
        other.set("three", forKey: "first")
        #expect(wrapper.removeAllKeys())
        #expect(wrapper.allKeys().isEmpty)
        #expect(other.string(forKey: "first") == "three")
        #expect(!wrapper.removeAllKeys())
    }

    @Test("a persistent reference names the value, also after an update")
    func persistentReference() throws {
        wrapper.set("first", forKey: "key")
        let reference = try #require(wrapper.dataRef(forKey: "key"))
        #expect(wrapper.data(forRef: reference) == Data("first".utf8))

        wrapper.set("second", forKey: "key")
        #expect(wrapper.dataRef(forKey: "key") == reference)
        #expect(wrapper.data(forRef: reference) == Data("second".utf8))

        wrapper.removeObject(forKey: "key")
        #expect(wrapper.data(forRef: reference) == nil)
    }

    // .whenPasscodeSetThisDeviceOnly requires a passcode.
    @Test(
        "the accessibility is stored with the value",
        arguments: KeychainItemAccessibility.allCases.filter { $0 != .whenPasscodeSetThisDeviceOnly }
    )
    func accessibility(of accessibility: KeychainItemAccessibility) {
        #expect(wrapper.set("s3cret", forKey: "key", withAccessibility: accessibility))
        #expect(wrapper.accessibilityOfKey("key") == accessibility)
    }

    @Test("the accessibility changes only if a new one is given")
    func changedAccessibility() {
        wrapper.set("first", forKey: "key", withAccessibility: .afterFirstUnlock)
        wrapper.set("second", forKey: "key")
        #expect(wrapper.accessibilityOfKey("key") == .afterFirstUnlock)
        wrapper.set("third", forKey: "key", withAccessibility: .whenUnlockedThisDeviceOnly)
        #expect(wrapper.accessibilityOfKey("key") == .whenUnlockedThisDeviceOnly)
        #expect(wrapper.string(forKey: "key") == "third")
        #expect(wrapper.allKeys() == ["key"])
    }

    @Test("each accessibility is found by its constant", arguments: KeychainItemAccessibility.allCases)
    func accessibilityConstants(accessibility: KeychainItemAccessibility) {
        #expect(KeychainItemAccessibility(attributeValue: accessibility.attributeValue) == accessibility)
        #expect(KeychainItemAccessibility(attributeValue: kSecAttrAccount) == nil)
    }

    @Test("the standard wrapper belongs to the program")
    func standard() {
        let key = UUID().uuidString
        KeychainWrapper.standard[key] = "s3cret"
        #expect(KeychainWrapper.standard[key] == "s3cret")
        #expect(KeychainWrapper.standard.removeObject(forKey: key))
    }
}

extension KeychainWrapper.Key {
    fileprivate static let isTrusted = KeychainWrapper.Key("isTrusted")
    fileprivate static let launches = KeychainWrapper.Key("launches")
    fileprivate static let name = KeychainWrapper.Key("name")
}
