// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Synchronization
import Testing

/// keychain-behaviour §2 and §7.8.
@Suite("Lock states")
struct LockStateTests {
    @Test(
        "T163, T164: while locked, an item of the class ak is closed, including its attributes; after the unlock it is open",
        arguments: Backend.allCases)
    func locked(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.add("a", .whenUnlocked)
        try keychain.setPasscode()
        #expect(try keychain.find("a") == ["v"])
        try keychain.service.administrator.lock(immediately: true)
        #expect(status { () throws(KeychainError) in _ = try keychain.find("a") } == -25308)
        #expect(status { () throws(KeychainError) in _ = try keychain.find("a", returning: .attributes) } == -25308)
        try keychain.unlock()
        #expect(try keychain.find("a") == ["v"])
    }

    @Test("T165: while locked after an unlock, an item of the class ck is open", arguments: Backend.allCases)
    func afterFirstUnlock(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.setPasscode()
        try keychain.add("c", .afterFirstUnlock)
        try keychain.service.administrator.lock(immediately: true)
        #expect(try keychain.find("c") == ["v"])
        try keychain.add("c2", .afterFirstUnlock)
    }

    @Test("T166, T167: before the first unlock, ck is closed and dk is open, for reading and for adding")
    func beforeFirstUnlock() throws {
        let made = try TestKeychain(.onDisk)
        try made.setPasscode()
        try made.add("c", .afterFirstUnlock)
        try made.add("d", .always)
        let keychain = try TestKeychain(in: try #require(made.directory), clock: made.clock)
        #expect(try keychain.service.administrator.lockStatus().state == .beforeFirstUnlock)
        #expect(status { () throws(KeychainError) in _ = try keychain.find("c") } == -25308)
        #expect(status { () throws(KeychainError) in try keychain.add("c2", .afterFirstUnlock) } == -25308)
        #expect(try keychain.find("d") == ["v"])
        try keychain.add("d2", .always)
    }

    @Test(
        "T168: while locked, an item of the class ak cannot be added, not even over an existing one",
        arguments: Backend.allCases)
    func addLocked(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.setPasscode()
        try keychain.add("a", .whenUnlocked)
        try keychain.service.administrator.lock(immediately: true)
        #expect(status { () throws(KeychainError) in try keychain.add("b", .whenUnlocked) } == -25308)
        #expect(status { () throws(KeychainError) in try keychain.add("a", .whenUnlocked) } == -25308)
        #expect(status { () throws(KeychainError) in try keychain.add("a", .always) } == -25299)
    }

    @Test(
        "T169: one closed match closes the whole query; a query for an open class alone succeeds",
        arguments: Backend.allCases)
    func oneClosedMatch(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.setPasscode()
        try keychain.add("c", .afterFirstUnlock)
        try keychain.add("a", .whenUnlocked)
        try keychain.service.administrator.lock(immediately: true)
        #expect(status { () throws(KeychainError) in _ = try keychain.find(limit: .all) } == -25308)
        var open = keychain.query(limit: .all)
        open.attributes[.accessible] = .string("ck")
        #expect(try keychain.service.by(TestKeychain.caller).copyMatching(open, returning: .data).records.count == 1)
        let update = ItemUpdate(data: SharedSecret(copying: "new".utf8))
        #expect(
            status { () throws(KeychainError) in
                _ = try keychain.service.by(TestKeychain.caller).update(keychain.query(), with: update)
            } == -25308)
        try keychain.unlock()
        #expect(try keychain.find(limit: .all) == ["v", "v"])
    }

    @Test(
        "T170: while locked, a local item is deleted by its key attributes; an item that must be opened to match is not",
        arguments: Backend.allCases)
    func deleteLocked(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.setPasscode()
        try keychain.add("a", .whenUnlocked)
        try keychain.add("b", .whenUnlocked)
        try keychain.service.administrator.lock(immediately: true)
        var described = keychain.query("b")
        described.attributes[.comment] = .string("x")
        let query = described
        #expect(
            status { () throws(KeychainError) in _ = try keychain.service.by(TestKeychain.caller).delete(query) }
                == -25308)
        try keychain.delete("a")
        #expect(status { () throws(KeychainError) in try keychain.delete("a") } == -25300)
        try keychain.unlock()
        #expect(try keychain.find(limit: .all).count == 1)
    }

    @Test(
        "T173: within the grace period, items that the lock closes are still open; after it, closed",
        arguments: Backend.allCases)
    func grace(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.setPasscode()
        try keychain.add("a", .whenUnlocked)
        try keychain.service.administrator.lock(immediately: false)
        #expect(try keychain.service.administrator.lockStatus().state == .locked)
        #expect(try keychain.service.administrator.lockStatus().graceLeft == 10)
        keychain.clock.advance(by: 9.5)
        #expect(try keychain.find("a") == ["v"])
        keychain.clock.advance(by: 0.5)
        #expect(status { () throws(KeychainError) in _ = try keychain.find("a") } == -25308)
        #expect(try keychain.service.administrator.lockStatus().graceLeft == nil)
    }

    @Test("An unlock within the grace period ends it; a lock with --now skips it; a grace period of 0 has no effect")
    func graceEnds() throws {
        let keychain = try TestKeychain(.ephemeral)
        try keychain.setPasscode()
        try keychain.add("a", .whenUnlocked)
        try keychain.service.administrator.lock(immediately: false)
        try keychain.unlock()
        keychain.clock.advance(by: 60)
        #expect(try keychain.find("a") == ["v"])
        try keychain.service.administrator.lock(immediately: false)
        try keychain.service.administrator.lock(immediately: true)
        #expect(status { () throws(KeychainError) in _ = try keychain.find("a") } == -25308)
        try keychain.unlock()
        try keychain.service.administrator.changeSettings(to: KeybagSettings(graceSeconds: 0), Sample.secret)
        try keychain.service.administrator.lock(immediately: false)
        #expect(status { () throws(KeychainError) in _ = try keychain.find("a") } == -25308)
    }

    @Test("A keychain that is not used for the interval of the settings locks itself; use restarts the interval")
    func idle() throws {
        let keychain = try TestKeychain(.ephemeral)
        try keychain.setPasscode()
        try keychain.service.administrator.changeSettings(to: KeybagSettings(lockInterval: 60), Sample.secret)
        try keychain.add("a", .whenUnlocked)
        for _ in 0..<3 {
            keychain.clock.advance(by: 59)
            #expect(try keychain.find("a") == ["v"])
        }
        keychain.clock.advance(by: 60)
        #expect(status { () throws(KeychainError) in _ = try keychain.find("a") } == -25308)
        #expect(try keychain.service.administrator.lockStatus().state == .locked)
        try keychain.unlock()
        #expect(try keychain.find("a") == ["v"])
    }

    @Test("T071: a persistent reference stays the same through an update, a lock, an unlock and a reopening")
    func reference() throws {
        let keychain = try TestKeychain(.onDisk)
        try keychain.setPasscode()
        let before = try keychain.add("a", .whenUnlocked).persistentReference
        func reference(_ keychain: TestKeychain) throws -> PersistentReference? {
            try keychain.service.by(TestKeychain.caller).copyMatching(
                keychain.query("a"), returning: .persistentReference
            )
            .records.first?.persistentReference
        }
        try keychain.update("a", ItemUpdate(data: SharedSecret(copying: "new".utf8)))
        #expect(try reference(keychain) == before)
        try keychain.service.administrator.lock(immediately: true)
        try keychain.unlock()
        #expect(try reference(keychain) == before)
        keychain.service.close()
        let reopened = try TestKeychain(in: try #require(keychain.directory), clock: keychain.clock)
        try reopened.unlock()
        #expect(try reference(reopened) == before)
    }

    @Test("Every change of the lock state is reported, exactly once")
    func observers() throws {
        let keychain = try TestKeychain(.ephemeral)
        let seen = Mutex<[LockState?]>([])
        let number = keychain.service.addLockObserver(reportsPresent: false) { state in
            seen.withLock { $0.append(state) }
        }
        try keychain.setPasscode()
        try keychain.service.administrator.lock(immediately: true)
        try keychain.service.administrator.lock(immediately: true)
        try keychain.unlock()
        keychain.service.removeLockObserver(number)
        try keychain.service.administrator.lock(immediately: true)
        #expect(
            seen.withLock { $0 } == [.locked, .unlocked]
                || seen.withLock { $0 } == [.beforeFirstUnlock, .unlocked, .locked, .unlocked])
    }

    @Test("A keychain without a passcode is always unlocked, and cannot be locked")
    func noPasscode() throws {
        let keychain = try TestKeychain(.ephemeral)
        #expect(try keychain.service.administrator.lockStatus().state == .unlocked)
        #expect(
            status { () throws(KeychainError) in try keychain.service.administrator.lock(immediately: true) } == -50)
        try keychain.unlock("anything")
        #expect(status { () throws(KeychainError) in try keychain.add("p", .whenPasscodeSetThisDeviceOnly) } == -25291)
    }

    @Test(
        "A change of class reseals the item: from closed while locked to open, and back", arguments: Backend.allCases)
    func changedClass(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.setPasscode()
        try keychain.add("a", .whenUnlocked)
        try keychain.update("a", ItemUpdate(protection: .always))
        try keychain.service.administrator.lock(immediately: true)
        #expect(try keychain.find("a") == ["v"])
        #expect(
            status { () throws(KeychainError) in try keychain.update("a", ItemUpdate(protection: .whenUnlocked)) }
                == -25308)
        try keychain.unlock()
        try keychain.update("a", ItemUpdate(protection: .whenPasscodeSetThisDeviceOnly))
        try keychain.service.administrator.lock(immediately: true)
        #expect(status { () throws(KeychainError) in _ = try keychain.find("a") } == -25308)
    }
}
