// SPDX-License-Identifier: Apache-2.0

@testable import Keybag
import KeychainModel
@testable import KeychainStore
import KeychainTesting
import LinuxSystem
import Testing

/// The reserve for deletions on a full disk. FullDiskTests fills a real disk.
@Suite("The reserve for deletions")
struct DiskReserveTests {
    private static let full = StoreError.database(code: 13, message: "database or disk is full")

    private static func size(_ fixture: StoreFixture) throws -> Int64? {
        try FileStatus.ofLink("\(fixture.path)-reserve")?.size
    }

    @Test("A new keychain has a private reserve of 512 KiB with allocated blocks")
    func made() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        defer { store.close() }
        let status = try #require(try FileStatus.ofLink("\(fixture.path)-reserve"))
        #expect(status.size == 512 << 10 && status.permissions == 0o600)
    }

    @Test("A deletion that finds the disk full releases the reserve and runs again; an addition does not")
    func released() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        defer { store.close() }
        var attempts = 0
        func write(isDeletion: Bool, fails: Int) throws {
            attempts = 0
            try store.connections.write(isDeletion: isDeletion) { (_) throws(StoreError) in
                attempts += 1
                if attempts <= fails { throw Self.full }
            }
        }
        #expect(throws: StoreError.self) { try write(isDeletion: false, fails: 1) }
        #expect(try attempts == 1 && Self.size(fixture) == 512 << 10)
        try write(isDeletion: true, fails: 1)
        #expect(try attempts == 2 && Self.size(fixture) == 0)
        // There is nothing more to release; the second attempt overwrites less.
        try write(isDeletion: true, fails: 1)
        #expect(attempts == 2)
        #expect(throws: StoreError.self) { try write(isDeletion: true, fails: 2) }
        #expect(attempts == 2)
        // Before something is added, the reserve is filled again.
        try write(isDeletion: false, fails: 0)
        #expect(try Self.size(fixture) == 512 << 10)
    }

    @Test("The first use of a keychain releases the reserve, if the disk has no space for the index of the log")
    func reading() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        var attempts = 0
        let result = try store.connections.read { (_) throws(StoreError) -> Int in
            attempts += 1
            if attempts == 1 { throw StoreError.database(code: 10 | (19 << 8), message: "disk I/O error") }
            return 7
        }
        #expect(try result == 7 && attempts == 2 && Self.size(fixture) == 0)
        // The end of the use restores it.
        store.close()
        #expect(try Self.size(fixture) == 512 << 10)
    }

    @Test("KDB-89: while nothing can be kept for deletions, nothing is added, and items are deleted")
    func nothingLeft() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        defer { store.close() }
        _ = try store.add(Sample.item("a"))
        #expect(try #require(store.connections.reserve).release())
        // This file can be emptied, but has no space.
        NoSpace.$path.withValue("\(fixture.path)-reserve") {
            #expect(throws: StoreError.self) { try store.add(Sample.item("b")) }
            #expect(throws: Never.self) { try store.remove(Sample.search([.account: .string("a")]), now: 1) }
        }
        _ = try store.add(Sample.item("b"))
    }

    @Test("The tenth wrong passcode destroys the protected items, also while nothing can be added")
    func wiping() throws {
        let fixture = try ConstraintFixture()
        try fixture.add("plain", nil, .whenUnlocked)
        try fixture.store.administration.changeSettings(
            to: KeybagSettings(wipesAfterTen: true), ConstraintFixture.passcode("secret"))
        #expect(try #require(fixture.store.connections.reserve).release())
        try NoSpace.$path.withValue("\(fixture.files.path)-reserve") { try fixture.enterWrongPasscodes(10) }
        #expect(!fixture.store.hasPasscode)
        #expect(try fixture.find("plain").records.isEmpty)
    }
}
