// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyService
import SecretMemory
import Testing

/// The administrator's choice about the classes that open without the passcode.
@Suite("Classes that are always open")
struct AlwaysClassesTests {
    private let directory: TemporaryDirectory
    private let caller = TestKeychain.caller

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func service(allowsAlwaysOpen: Bool) throws -> EmbeddedService {
        try EmbeddedService(home: KeychainHome(root: directory.path), allowsAlwaysOpen: allowsAlwaysOpen)
    }

    private func item(_ account: String, _ protection: ProtectionClass, _ itemClass: ItemClass = .genericPassword)
        -> ItemAddition
    {
        ItemAddition(
            itemClass, attributes: itemClass == .genericPassword ? [.account: .string(account)] : [:],
            secrets: ItemSecrets(data: SharedSecret(copying: "s3cret".utf8)), protection: protection)
    }

    @Test("Where the administrator refuses them, no item gets a class that is always open; the file is named")
    func refused() throws {
        let service = try service(allowsAlwaysOpen: false)
        defer { service.close() }
        for protection in ProtectionClass.allCases where protection.isAlwaysOpen {
            let error = #expect(throws: KeychainError.self) {
                try service.items.add(item("a", protection), from: caller)
            }
            #expect(error?.status == .param && error?.problem.contains("/etc/latchkey/daemon.conf") == true)
        }
        let added = try service.items.add(item("a", .whenUnlocked), from: caller)
        let query = ItemQuery(nil, synchronizable: .any, persistentReference: added.persistentReference)
        let error = #expect(throws: KeychainError.self) {
            try service.items.update(query, with: ItemUpdate(protection: .always), from: caller)
        }
        #expect(error?.status == .param)
        // The update changed nothing.
        let found = try service.items.copyMatching(query, returning: .attributes, from: caller)
        #expect(found.records.map(\.protection) == [.whenUnlocked])
    }

    @Test("A certificate keeps its always open default class, also where such classes are refused")
    func certificate() throws {
        let service = try service(allowsAlwaysOpen: false)
        defer { service.close() }
        #expect(try service.items.add(item("", .always, .certificate), from: caller).protection == .always)
    }

    @Test("Items from before the refusal are read, changed and deleted, and keep their class")
    func earlier() throws {
        let before = try service(allowsAlwaysOpen: true)
        let added = try before.items.add(item("a", .always), from: caller)
        before.close()
        let service = try service(allowsAlwaysOpen: false)
        defer { service.close() }
        let query = ItemQuery(nil, synchronizable: .any, persistentReference: added.persistentReference)
        _ = try service.items.update(query, with: ItemUpdate(attributes: [.label: .string("new")]), from: caller)
        let found = try service.items.copyMatching(query, returning: [.attributes, .data], from: caller)
        #expect(found.records.map(\.protection) == [.always])
        #expect(try service.items.delete(query, from: caller) == 1)
    }
}
