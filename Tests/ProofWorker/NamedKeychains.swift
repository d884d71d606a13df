// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeySecurity

/// The functions of `SecKeychain…` on a home of its own. Each scenario prints a line for every result
/// that differs from the expected one.
///
/// The functions are deprecated, and warnings are errors: the worker calls `run` through the protocol.
protocol KeychainScenarios {
    static func run(_ name: String) -> Int32
}

enum NamedKeychains: KeychainScenarios {
    static var scenarios: any KeychainScenarios.Type { NamedKeychains.self }

    @available(*, deprecated)
    static func run(_ name: String) -> Int32 {
        let checks = Checks()
        switch name {
        case "lifecycle": lifecycle(checks)
        case "search-list": searchList(checks)
        case "dictionaries": dictionaries(checks)
        case "passwords": passwords(checks)
        case "items": items(checks)
        case "buffers": buffers(checks)
        case "paths": paths(checks)
        case "environment": environment(checks)
        default: return 2
        }
        Worker.say(checks.failures == 0 ? "passed" : "failed")
        return checks.failures == 0 ? 0 : 1
    }

    // MARK: Keychains

    @available(*, deprecated)
    private static func lifecycle(_ checks: Checks) {
        var opened: SecKeychain?
        var state: SecKeychainStatus = 0
        checks.same("open a keychain that does not exist", SecKeychainOpen("build", &opened), errSecSuccess)
        checks.same("its status", SecKeychainGetStatus(opened, &state), errSecNoSuchKeychain)
        let created = create("build.keychain", "s3cret", checks)
        checks.same("the same name", created, opened)
        var other: SecKeychain?
        checks.same(
            "create it again", SecKeychainCreate("build", 2, "pw", false, nil, &other), errSecDuplicateKeychain)
        checks.same("prompt", SecKeychainCreate("new", 0, nil, true, nil, &other), errSecInteractionNotAllowed)
        checks.same("no name", SecKeychainCreate("", 0, nil, false, nil, &other), errSecInvalidKeychain)
        checks.same("a path upwards", SecKeychainOpen("../build.keychain", &other), errSecInvalidKeychain)
        checks.same("no password", SecKeychainCreate("new", 3, nil, false, nil, &other), errSecParam)
        checks.same("nothing was created", other, nil)

        checks.same("status after creation", SecKeychainGetStatus(created, &state), errSecSuccess)
        checks.same(
            "unlocked after creation", state, kSecUnlockStateStatus | kSecReadPermStatus | kSecWritePermStatus)
        checks.same("lock", SecKeychainLock(created), errSecSuccess)
        SecKeychainGetStatus(created, &state)
        checks.same("locked", state, kSecReadPermStatus)
        checks.same("unlock without a password", SecKeychainUnlock(created, 0, nil, false), errSecInteractionNotAllowed)
        checks.same("a wrong password", SecKeychainUnlock(created, 5, "wrong", true), errSecAuthFailed)
        checks.same("a length alone", SecKeychainUnlock(created, 5, nil, true), errSecParam)
        checks.same("the password", SecKeychainUnlock(created, 6, "s3cret", true), errSecSuccess)
        checks.same("unlocked already", SecKeychainUnlock(created, 0, nil, false), errSecSuccess)

        var settings = SecKeychainSettings(
            version: UInt32(SEC_KEYCHAIN_SETTINGS_VERS1), lockOnSleep: true, useLockInterval: true, lockInterval: 600)
        checks.same("set settings", SecKeychainSetSettings(created, &settings), errSecSuccess)
        settings.version = 7
        checks.same("another version", SecKeychainSetSettings(created, &settings), errSecParam)
        var copied = SecKeychainSettings()
        checks.same("copy settings", SecKeychainCopySettings(created, &copied), errSecSuccess)
        checks.same("lock on sleep", copied.lockOnSleep.boolValue, true)
        checks.same("lock interval", copied.lockInterval, 600)

        checks.same("lock all", SecKeychainLockAll(), errSecSuccess)
        SecKeychainGetStatus(created, &state)
        checks.same("all are locked", state, kSecReadPermStatus)
        path(of: created, checks)
        delete(created, checks)
    }

    @available(*, deprecated)
    private static func path(of keychain: SecKeychain?, _ checks: Checks) {
        var buffer = [CChar](repeating: 1, count: 4096)
        var length: UInt32 = 4
        checks.same("a small buffer", SecKeychainGetPath(keychain, &length, &buffer), errSecBufferTooSmall)
        let needed = length
        checks.same("nothing was written", buffer[0], 1)
        checks.same("without the zero byte", SecKeychainGetPath(keychain, &length, &buffer), errSecBufferTooSmall)
        length = needed + 1
        checks.same("the path", SecKeychainGetPath(keychain, &length, &buffer), errSecSuccess)
        checks.same("its length", length, needed)
        let path = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        checks.same("its name", path.hasSuffix("/build.keychain-db"), true)
        var found: SecKeychain?
        checks.same("open the path", SecKeychainOpen(path, &found), errSecSuccess)
        checks.same("the keychain of the path", found, keychain)
    }

    @available(*, deprecated)
    private static func delete(_ keychain: SecKeychain?, _ checks: Checks) {
        var state: SecKeychainStatus = 0
        var login: SecKeychain?
        var length: UInt32 = 4096
        var buffer = [CChar](repeating: 0, count: 4096)
        checks.same("delete", SecKeychainDelete(keychain), errSecSuccess)
        checks.same("delete again", SecKeychainDelete(keychain), errSecNoSuchKeychain)
        checks.same("status of a deleted one", SecKeychainGetStatus(keychain, &state), errSecNoSuchKeychain)
        checks.same("lock a deleted one", SecKeychainLock(keychain), errSecNoSuchKeychain)
        checks.same("path of a deleted one", SecKeychainGetPath(keychain, &length, &buffer), errSecNoSuchKeychain)
        checks.same("find in a deleted one", find(keychain, "service").status, errSecNoSuchKeychain)
        checks.same("add to a deleted one", add(keychain, "service", "x").status, errSecNoSuchKeychain)
        checks.same("delete nothing", SecKeychainDelete(nil), errSecInvalidKeychain)
        SecKeychainOpen("login.keychain", &login)
        checks.same("delete login", SecKeychainDelete(login), errSecParam)
    }

    @available(*, deprecated)
    private static func searchList(_ checks: Checks) {
        guard let a = create("a", "", checks), let b = create("b", "", checks) else { return }
        var login: SecKeychain?
        SecKeychainOpen("login", &login)
        checks.same("the list", searched(), [login, a, b])
        checks.same("add to a", add(a, "service", "one").status, errSecSuccess)
        checks.same("add to b", add(b, "service", "two").status, errSecSuccess)
        checks.same("add again", add(b, "service", "two").status, errSecDuplicateItem)
        checks.same("the first of the list", find(nil, "service").password, "one")
        checks.same("set the list", SecKeychainSetSearchList([b, a] as CFArray), errSecSuccess)
        checks.same("the new list", searched(), [b, a])
        checks.same("the new first", find(nil, "service").password, "two")
        checks.same("one keychain", find(a, "service").password, "one")
        checks.same("an array", find([a, b] as CFArray, "service").password, "one")
        checks.same("an empty array", find([] as CFArray, "service").status, errSecItemNotFound)
        checks.same("another object", find("a" as CFString, "service").status, errSecParam)

        var missing: SecKeychain?
        SecKeychainOpen("missing", &missing)
        checks.same("a missing default", SecKeychainSetDefault(missing), errSecNoSuchKeychain)
        if let missing {
            checks.same("a missing member", SecKeychainSetSearchList([missing, b, a] as CFArray), errSecSuccess)
        }
        checks.same("the list with a missing member", searched(), [missing, b, a])
        checks.same("the first that exists", find(nil, "service").password, "two")
        checks.same("set the list again", SecKeychainSetSearchList([b, a] as CFArray), errSecSuccess)
        checks.same("other members", SecKeychainSetSearchList(["a"] as CFArray), errSecParam)
        let both = [missing, a].compactMap { $0 } as CFArray
        checks.same("find in one that exists", find(both, "service").password, "one")

        var current: SecKeychain?
        checks.same("set the default", SecKeychainSetDefault(b), errSecSuccess)
        checks.same("copy the default", SecKeychainCopyDefault(&current), errSecSuccess)
        checks.same("the default", current, b)
        let item = add(nil, "other", "three").item
        var owner: SecKeychain?
        if let item { SecKeychainItemCopyKeychain(item, &owner) }
        checks.same("the keychain of a new item", owner, b)
        checks.same("delete b", SecKeychainDelete(b), errSecSuccess)
        checks.same("the list without b", searched(), [a])
        SecKeychainCopyDefault(&current)
        checks.same("the default without b", current, login)
        if let item { checks.same("an item of b", SecKeychainItemDelete(item), errSecNoSuchKeychain) }
        checks.same("the item of a", find(nil, "service").password, "one")
    }

    @available(*, deprecated)
    private static func paths(_ checks: Checks) {
        let home = ProcessInfo.processInfo.environment["HOME"] ?? "/nonexistent"
        let files = FileManager.default
        let path = "\(home)/work/build.keychain"
        guard let build = create(path, "s3cret", checks) else { return }
        guard let named = create("build", "", checks) else { return }
        checks.same("two keychains", build == named, false)
        checks.same("the file", files.fileExists(atPath: path), true)
        checks.same("the file of the name", files.fileExists(atPath: "\(home)/Library/Keychains/build-db"), true)
        checks.same("its path", shownPath(build), path)
        checks.same("the path of the name", shownPath(named), "\(home)/Library/Keychains/build-db")
        checks.same("add to one", add(build, "service", "one").status, errSecSuccess)
        checks.same("find in the other", find(named, "service").status, errSecItemNotFound)
        var other: SecKeychain?
        checks.same("create it again", SecKeychainCreate(path, 0, "", false, nil, &other), errSecDuplicateKeychain)
        checks.same("open it", SecKeychainOpen("\(home)/work/../work/build.keychain", &other), errSecSuccess)
        checks.same("the same keychain", other, build)
        let foreign = "\(home)/work/foreign.keychain"
        _ = files.createFile(atPath: foreign, contents: Data("kych".utf8))
        checks.same("a foreign file", SecKeychainCreate(foreign, 0, "", false, nil, &other), errSecDuplicateKeychain)
        checks.same("open a foreign file", SecKeychainOpen(foreign, &other), errSecInvalidKeychain)
        checks.same("delete", SecKeychainDelete(build), errSecSuccess)
        checks.same("the file is gone", files.fileExists(atPath: path), false)
        checks.same("the name is there", find(named, "service").status, errSecItemNotFound)
    }

    @available(*, deprecated)
    private static func shownPath(_ keychain: SecKeychain) -> String {
        var buffer = [CChar](repeating: 0, count: 4096)
        var length: UInt32 = 4096
        guard SecKeychainGetPath(keychain, &length, &buffer) == errSecSuccess else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    // MARK: Dictionaries

    @available(*, deprecated)
    private static func dictionaries(_ checks: Checks) {
        guard let a = create("a", "", checks), let b = create("b", "", checks) else { return }
        var missing: SecKeychain?
        SecKeychainOpen("missing", &missing)
        for (keychain, value) in [(a, "one"), (b, "two")] {
            checks.same("add \(value)", add(value, kSecUseKeychain, keychain), errSecSuccess)
        }
        checks.same("add again", add("one", kSecUseKeychain, a), errSecDuplicateItem)
        if let missing { checks.same("add to none", add("x", kSecUseKeychain, missing), errSecNoSuchKeychain) }
        checks.same("a name as the keychain", add("x", kSecUseKeychain, "a"), errSecParam)
        checks.same("a search list in an addition", add("x", kSecMatchSearchList, [a]), errSecParam)
        checks.same("search b", copy(kSecMatchSearchList, [b]).value, "two")
        checks.same("search b and a", copy(kSecMatchSearchList, [b, a]).value, "two")
        checks.same("search a and b", copy(kSecMatchSearchList, [a, b]).value, "one")
        checks.same("use b", copy(kSecUseKeychain, b).value, "two")
        checks.same("search nothing", copy(kSecMatchSearchList, [SecKeychain]()).status, errSecItemNotFound)
        checks.same("search a keychain alone", copy(kSecMatchSearchList, a).status, errSecParam)
        checks.same("search numbers", copy(kSecMatchSearchList, [1]).status, errSecParam)
        var change = Worker.key("account")
        change[kSecMatchSearchList as String] = [a]
        let new = [kSecValueData as String: Data("three".utf8)]
        checks.same("update in a", SecItemUpdate(change as CFDictionary, new as CFDictionary), errSecSuccess)
        checks.same("updated in a", copy(kSecMatchSearchList, [a]).value, "three")
        checks.same("unchanged in b", copy(kSecMatchSearchList, [b]).value, "two")
        checks.same("delete in a", SecItemDelete(change as CFDictionary), errSecSuccess)
        checks.same("delete in a again", SecItemDelete(change as CFDictionary), errSecItemNotFound)
        checks.same("still in b", copy(kSecMatchSearchList, [b]).value, "two")
        key(in: a, searching: b, checks)
        reference(in: b, checks)
    }

    /// A key in a keychain that is not searched is used where it was found.
    @available(*, deprecated)
    private static func key(in keychain: SecKeychain, searching other: SecKeychain, _ checks: Checks) {
        let attributes: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits as String: 256,
            kSecUseKeychain as String: keychain,
            kSecPrivateKeyAttrs as String: [kSecAttrIsPermanent as String: true] as [String: Any],
        ]
        checks.same("a list without the keychain", SecKeychainSetSearchList([other] as CFArray), errSecSuccess)
        let made = SecKeyCreateRandomKey(attributes as CFDictionary, nil)
        checks.same("create a key", made != nil, true)
        var query: [String: Any] = [kSecClass as String: kSecClassKey, kSecReturnRef as String: true]
        var found: CFTypeRef?
        checks.same(
            "the key is not in the list", SecItemCopyMatching(query as CFDictionary, &found), errSecItemNotFound)
        query[kSecMatchSearchList as String] = [keychain]
        checks.same("find the key", SecItemCopyMatching(query as CFDictionary, &found), errSecSuccess)
        for key in [made, found as? SecKey] {
            let signature = key.flatMap {
                SecKeyCreateSignature($0, .ecdsaSignatureMessageX962SHA256, Data("message".utf8) as CFData, nil)
            }
            checks.same("sign with the key", signature != nil, true)
        }
    }

    /// An object for a password stands for that password alone.
    @available(*, deprecated)
    private static func reference(in keychain: SecKeychain, _ checks: Checks) {
        guard let item = add(keychain, "one of two", "first").item else { return checks.fail("add the first") }
        checks.same("add the second", add(keychain, "two of two", "second").status, errSecSuccess)
        let query: [String: Any] = [kSecValueRef as String: item, kSecReturnData as String: true]
        var found: CFTypeRef?
        checks.same("find by the object", SecItemCopyMatching(query as CFDictionary, &found), errSecSuccess)
        checks.same("its password", (found as? Data).map { String(decoding: $0, as: UTF8.self) }, "first")
        let deletion = [kSecValueRef as String: item] as CFDictionary
        checks.same("delete by the object", SecItemDelete(deletion), errSecSuccess)
        checks.same("delete by the object again", SecItemDelete(deletion), errSecItemNotFound)
        checks.same("the second is still there", find(keychain, "two of two").password, "second")
        checks.same("add the object", SecItemAdd(deletion, nil), errSecParam)
    }

    // MARK: Passwords

    @available(*, deprecated)
    private static func passwords(_ checks: Checks) {
        func add(_ port: UInt16, _ value: String) -> OSStatus {
            SecKeychainAddInternetPassword(
                nil, 11, "example.com", 0, nil, 5, "alice", 6, "/login", port, .HTTPS, .httpBasic,
                UInt32(value.utf8.count), value, nil)
        }
        func find(_ port: UInt16, _ kind: SecProtocolType, _ way: SecAuthenticationType) -> String? {
            var length: UInt32 = 0
            var data: UnsafeMutableRawPointer?
            let status = SecKeychainFindInternetPassword(
                nil, 11, "example.com", 0, nil, 0, nil, 0, nil, port, kind, way, &length, &data, nil)
            guard status == errSecSuccess else { return "\(status)" }
            return taken(data, length)
        }
        checks.same("add", add(8443, "s3cret"), errSecSuccess)
        checks.same("add again", add(8443, "s3cret"), errSecDuplicateItem)
        checks.same("another port", add(8444, ""), errSecSuccess)
        checks.same("find any", find(8443, .any, .any), "s3cret")
        checks.same("find exactly", find(8443, .HTTPS, .httpBasic), "s3cret")
        checks.same("find an empty password", find(8444, .any, .any), "")
        checks.same("find another port", find(1, .any, .any), "\(errSecItemNotFound)")
        checks.same("find another protocol", find(8443, .HTTP, .any), "\(errSecItemNotFound)")
        checks.same("find another kind", find(8443, .any, .htmlForm), "\(errSecItemNotFound)")
        let query: [String: Any] = [
            kSecClass as String: kSecClassInternetPassword, kSecAttrServer as String: "example.com",
            kSecAttrProtocol as String: kSecAttrProtocolHTTPS, kSecAttrPort as String: 8443,
            kSecAttrAuthenticationType as String: kSecAttrAuthenticationTypeHTTPBasic,
            kSecAttrLabel as String: "example.com", kSecReturnData as String: true,
        ]
        var found: CFTypeRef?
        checks.same("find with a dictionary", SecItemCopyMatching(query as CFDictionary, &found), errSecSuccess)
        checks.same("the password", (found as? Data).map { String(decoding: $0, as: UTF8.self) }, "s3cret")
    }

    @available(*, deprecated)
    private static func items(_ checks: Checks) {
        guard let item = add(nil, "service", "old").item else { return checks.fail("add") }
        checks.same("the label", attribute(.labelItemAttr, of: item), "service")
        var label = Array("a label".utf8)
        let changed = label.withUnsafeMutableBytes { label in
            var attribute = SecKeychainAttribute(
                tag: SecItemAttr.labelItemAttr.rawValue, length: UInt32(label.count), data: label.baseAddress)
            return withUnsafeMutablePointer(to: &attribute) { attribute in
                var list = SecKeychainAttributeList(count: 1, attr: attribute)
                return SecKeychainItemModifyAttributesAndData(item, &list, 3, "new")
            }
        }
        checks.same("change label and password", changed, errSecSuccess)
        checks.same("the new label", attribute(.labelItemAttr, of: item), "a label")
        checks.same("the account is kept", attribute(.accountItemAttr, of: item), "account")
        checks.same("the new password", find(nil, "service").password, "new")
        checks.same("change nothing", SecKeychainItemModifyAttributesAndData(item, nil, 0, nil), errSecSuccess)
        checks.same("the password is kept", find(nil, "service").password, "new")
        checks.same("a length alone", SecKeychainItemModifyAttributesAndData(item, nil, 3, nil), errSecParam)
        checks.same("no such attribute", attribute(.serverItemAttr, of: item), "\(errSecNoSuchAttr)")
        copyList(item, checks)
        checks.same("delete", SecKeychainItemDelete(item), errSecSuccess)
        checks.same("delete again", SecKeychainItemDelete(item), errSecItemNotFound)
        checks.same(
            "change a deleted one", SecKeychainItemModifyAttributesAndData(item, nil, 1, "x"), errSecItemNotFound)
    }

    @available(*, deprecated)
    private static func copyList(_ item: SecKeychainItem, _ checks: Checks) {
        var tags = [SecItemAttr.serviceItemAttr.rawValue, SecItemAttr.creationDateItemAttr.rawValue]
        var list: UnsafeMutablePointer<SecKeychainAttributeList>?
        var kind = SecItemClass.internetPasswordItemClass
        var length: UInt32 = 0
        var data: UnsafeMutableRawPointer?
        let status = tags.withUnsafeMutableBufferPointer { tags -> OSStatus in
            guard let first = tags.baseAddress else { return errSecParam }
            var info = SecKeychainAttributeInfo(count: UInt32(tags.count), tag: first, format: nil)
            return SecKeychainItemCopyAttributesAndData(item, &info, &kind, &list, &length, &data)
        }
        checks.same("copy", status, errSecSuccess)
        checks.same("the class", kind, .genericPasswordItemClass)
        checks.same("the length", length, 3)
        checks.same("the number", list?.pointee.count, 2)
        checks.same("the service", list?.pointee.attr?.pointee.length, 7)
        checks.same("the date", list?.pointee.attr.map { ($0 + 1).pointee.length }, 16)
        checks.same("free", SecKeychainItemFreeAttributesAndData(list, data), errSecSuccess)
        checks.same("free again", SecKeychainItemFreeAttributesAndData(list, nil), errSecParam)
    }

    @available(*, deprecated)
    private static func buffers(_ checks: Checks) {
        func find(_ service: UnsafePointer<CChar>?, _ length: UInt32) -> OSStatus {
            SecKeychainFindGenericPassword(nil, length, service, 0, nil, nil, nil, nil)
        }
        checks.same("a length without bytes", find(nil, 5), errSecParam)
        checks.same("no length", find(nil, 0), errSecItemNotFound)
        let wrong = [CChar](repeating: -1, count: 4)
        checks.same("not UTF-8", wrong.withUnsafeBufferPointer { find($0.baseAddress, 4) }, errSecParam)
        checks.same("a length beyond every keychain", find("x", .max), errSecDataTooLarge)
        checks.same(
            "a password without bytes", SecKeychainAddGenericPassword(nil, 1, "s", 1, "a", 4, nil, nil), errSecParam)
        let added = SecKeychainAddGenericPassword(nil, 3, "service", 1, "a", 1, "p", nil)
        checks.same("a length that ends the text", added, errSecSuccess)
        checks.same("the text before the length", find("ser", 3), errSecSuccess)
        var length: UInt32 = 0
        var data: UnsafeMutableRawPointer?
        checks.same("find", SecKeychainFindGenericPassword(nil, 3, "ser", 0, nil, &length, &data, nil), errSecSuccess)
        checks.same("free", SecKeychainItemFreeContent(nil, data), errSecSuccess)
        checks.same("free again", SecKeychainItemFreeContent(nil, data), errSecParam)
        checks.same("free nothing", SecKeychainItemFreeContent(nil, nil), errSecSuccess)
        var foreign = 0
        checks.same("free other memory", SecKeychainItemFreeContent(nil, &foreign), errSecParam)
    }

    /// While files are open, the environment names no other home.
    @available(*, deprecated)
    private static func environment(_ checks: Checks) {
        _ = create("first", "s3cret", checks)
        let other = "\(ProcessInfo.processInfo.environment["HOME"] ?? "/nonexistent")/other"
        setenv("LATCHKEY_HOME", other, 1)
        let second = create("second", "s3cret", checks)
        checks.same("lock", SecKeychainLock(second), errSecSuccess)
        checks.same("unlock", SecKeychainUnlock(second, 6, "s3cret", true), errSecSuccess)
        checks.same("nothing in the other home", FileManager.default.fileExists(atPath: other), false)
    }

    // MARK: Calls

    @available(*, deprecated)
    private static func create(_ path: String, _ password: String, _ checks: Checks) -> SecKeychain? {
        var keychain: SecKeychain?
        let status = SecKeychainCreate(path, UInt32(password.utf8.count), password, false, nil, &keychain)
        checks.same("create \(path)", status, errSecSuccess)
        return keychain
    }

    @available(*, deprecated)
    private static func searched() -> [SecKeychain?] {
        var list: CFArray?
        SecKeychainCopySearchList(&list)
        return (list as? [SecKeychain] ?? []).map { $0 }
    }

    @available(*, deprecated)
    private static func add(
        _ keychain: SecKeychain?, _ service: String, _ value: String
    ) -> (status: OSStatus, item: SecKeychainItem?) {
        var item: SecKeychainItem?
        let status = SecKeychainAddGenericPassword(
            keychain, UInt32(service.utf8.count), service, 7, "account", UInt32(value.utf8.count), value, &item)
        return (status, item)
    }

    @available(*, deprecated)
    private static func find(_ keychains: Any?, _ service: String) -> (status: OSStatus, password: String?) {
        var length: UInt32 = 0
        var data: UnsafeMutableRawPointer?
        let status = SecKeychainFindGenericPassword(
            keychains, UInt32(service.utf8.count), service, 7, "account", &length, &data, nil)
        return (status, status == errSecSuccess ? taken(data, length) : nil)
    }

    /// Copies a password and frees it.
    @available(*, deprecated)
    private static func taken(_ data: UnsafeMutableRawPointer?, _ length: UInt32) -> String? {
        guard let data else { return nil }
        let text = String(decoding: UnsafeRawBufferPointer(start: data, count: Int(length)), as: UTF8.self)
        return SecKeychainItemFreeContent(nil, data) == errSecSuccess ? text : nil
    }

    /// Copies one attribute as text; a failure is its status.
    @available(*, deprecated)
    private static func attribute(_ tag: SecItemAttr, of item: SecKeychainItem) -> String {
        var attribute = SecKeychainAttribute(tag: tag.rawValue, length: 0, data: nil)
        return withUnsafeMutablePointer(to: &attribute) { attribute in
            var list = SecKeychainAttributeList(count: 1, attr: attribute)
            let status = SecKeychainItemCopyContent(item, nil, &list, nil, nil)
            guard status == errSecSuccess else { return "\(status)" }
            let bytes = UnsafeRawBufferPointer(
                start: attribute.pointee.data, count: Int(attribute.pointee.length))
            let text = String(decoding: bytes, as: UTF8.self)
            return SecKeychainItemFreeContent(&list, nil) == errSecSuccess ? text : "not freed"
        }
    }

    private static func add(_ value: String, _ key: CFString, _ object: Any) -> OSStatus {
        var item = Worker.key("account")
        item[kSecValueData as String] = Data(value.utf8)
        item[key as String] = object
        return SecItemAdd(item as CFDictionary, nil)
    }

    private static func copy(_ key: CFString, _ object: Any) -> (status: OSStatus, value: String?) {
        var query = Worker.key("account")
        query[kSecReturnData as String] = true
        query[key as String] = object
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        return (status, (result as? Data).map { String(decoding: $0, as: UTF8.self) })
    }
}

/// The results that differ from the expected ones.
final class Checks {
    private(set) var failures = 0

    func same<Value: Equatable>(_ title: String, _ found: Value, _ expected: Value) {
        guard found != expected else { return }
        fail("\(title): \(found), expected \(expected)")
    }

    func fail(_ line: String) {
        failures += 1
        Worker.say(line)
    }
}
