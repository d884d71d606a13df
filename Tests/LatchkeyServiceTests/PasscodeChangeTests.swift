// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainSessions
import KeychainTesting
import LatchkeyClient
import LatchkeyOperations
@_spi(Testing) import LatchkeyService
import SecretMemory
import Synchronization
import Testing

/// Setting, changing and removing the passcode, and the effect on other processes.
@Suite("Changes of the passcode")
struct PasscodeChangeTests {
    @Test("Setting a passcode closes the keychain to every process that does not have it, at its next call")
    func otherProcesses() throws {
        let first = try TestKeychain(.onDisk)
        let second = try TestKeychain(in: try #require(first.directory), clock: first.clock)
        try first.add("a", .whenUnlocked)
        #expect(try second.find("a") == ["v"])
        try first.setPasscode()
        #expect(status { () throws(KeychainError) in _ = try second.find("a") } == -25308)
        #expect(status { () throws(KeychainError) in try second.add("b", .whenUnlocked) } == -25308)
        try second.unlock()
        try second.add("b", .whenUnlocked)
        #expect(try first.find("b") == ["v"])
        // After a change of the passcode, open items stay open: the keys are the same.
        try first.service.administrator.changePasscode(
            from: Sample.secret, to: SharedSecret(copying: "another passcode".utf8), rotates: false
        ) { _, _ in
        }
        #expect(try second.find("a") == ["v"])
        // Rotated keys close them.
        try first.service.administrator.changePasscode(
            from: SharedSecret(copying: "another passcode".utf8), to: Sample.secret, rotates: true
        ) { _, _ in }
        #expect(status { () throws(KeychainError) in _ = try second.find("a") } == -25308)
        try second.unlock()
        #expect(try second.find("a") == ["v"])
        // Removing the passcode opens them to every process.
        #expect(try first.service.administrator.removePasscode(Sample.secret) { _, _ in } == 0)
        let third = try TestKeychain(in: try #require(first.directory), clock: first.clock)
        #expect(try third.find("b") == ["v"])
        #expect(try second.find("b") == ["v"])
    }

    @Test(
        "T192, T194: removing the passcode destroys the items of akpu, and leaves all others open",
        arguments: Backend.allCases)
    func removal(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.setPasscode()
        for protection in ProtectionClass.allCases { try keychain.add(protection.rawValue, protection) }
        #expect(try keychain.service.administrator.removePasscode(Sample.secret) { _, _ in } == 1)
        #expect(try keychain.find(limit: .all).count == 6)
        #expect(status { () throws(KeychainError) in _ = try keychain.find("akpu") } == -25300)
        #expect(try keychain.service.administrator.lockStatus().hasPasscode == false)
        // A new passcode can be set, with keys that were never stored unprotected.
        try keychain.setPasscode("another passcode")
        #expect(status { () throws(KeychainError) in _ = try keychain.find("akpu") } == -25300)
        try keychain.add("akpu", .whenPasscodeSetThisDeviceOnly)
        #expect(try keychain.find(limit: .all).count == 7)
    }

    @Test("A process that was idle during a removal and a new passcode writes nothing under the old keys")
    func sleptThrough() throws {
        let first = try TestKeychain(.onDisk)
        try first.setPasscode()
        let second = try TestKeychain(in: try #require(first.directory), clock: first.clock)
        try second.unlock()
        try second.add("before", .whenPasscodeSetThisDeviceOnly)
        _ = try first.service.administrator.removePasscode(Sample.secret) { _, _ in }
        try first.setPasscode("another passcode")
        #expect(
            status { () throws(KeychainError) in try second.add("after", .whenPasscodeSetThisDeviceOnly) } == -25308)
        #expect(try second.service.administrator.lockStatus().state == .beforeFirstUnlock)
        try second.unlock("another passcode")
        try second.add("after", .whenPasscodeSetThisDeviceOnly)
        #expect(try first.find("after") == ["v"])
    }

    @Test("A change of the passcode does not unlock a locked keychain", arguments: [Backend.onDisk, .daemon])
    func changeWhileLocked(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.setPasscode()
        try keychain.add("a", .whenUnlocked)
        try keychain.add("c", .afterFirstUnlock)
        try keychain.service.administrator.lock(immediately: true)
        let other = SharedSecret(copying: "another passcode".utf8)
        for rotates in [false, true] {
            let (old, new) = rotates ? (other, Sample.secret) : (Sample.secret, other)
            try keychain.service.administrator.changePasscode(from: old, to: new, rotates: rotates) { _, _ in }
            #expect(try keychain.service.administrator.lockStatus().state == .locked)
            #expect(status { () throws(KeychainError) in _ = try keychain.find("a") } == -25308)
            #expect(try keychain.find("c") == ["v"])
        }
        try keychain.unlock()
        #expect(try keychain.find("a") == ["v"])
        // It does not unlock a process that never had the passcode either.
        let fresh = try keychain.reopened()
        try fresh.service.administrator.changePasscode(from: Sample.secret, to: other, rotates: true) { _, _ in }
        #expect(try fresh.service.administrator.lockStatus().state == .beforeFirstUnlock)
    }

    @Test(
        "A process unlocks itself when it needs a closed item: once for all threads, again after a transient failure, never twice with a wrong passcode"
    )
    func automatic() async throws {
        let made = try TestKeychain(.onDisk)
        try made.setPasscode()
        try made.add("a", .whenUnlocked)
        made.service.close()
        let home = KeychainHome(root: try #require(made.directory).path)
        let given = Mutex<SharedSecret?>(nil)
        let asked = Mutex(0)
        let service = try EmbeddedService(home: home, clocks: made.clock.clocks) { () throws(KeychainError) in
            asked.withLock { $0 += 1 }
            return given.withLock { $0 }
        }
        func find() throws(KeychainError) {
            _ = try service.items.copyMatching(made.query("a"), returning: .data, from: TestKeychain.caller)
        }
        // First there is no passcode, and then a wrong one. The wrong one is checked once.
        #expect(status(find) == -25308)
        given.withLock { $0 = SharedSecret(copying: "a wrong passcode".utf8) }
        #expect(status(find) == -25293)
        #expect(status(find) == -25308)
        #expect(try service.lock.status().wrongPasscodes == 1)
        given.withLock { $0 = Sample.secret }
        await withTaskGroup(of: Int32.self) { group in
            for _ in 0..<4 { group.addTask { status(find) } }
            for await status in group { #expect(status == 0) }
        }
        #expect(asked.withLock { $0 } == 4)
        // A keychain that was locked explicitly stays locked.
        try service.lock.lock(immediately: true)
        #expect(status(find) == -25308)
        service.close()
    }

    @Test("A process unlocks itself before it reports a lock, and reports one that it cannot open")
    func automaticReports() throws {
        let made = try TestKeychain(.onDisk)
        try made.setPasscode()
        try made.add("a", .whenUnlocked)
        made.service.close()
        let home = KeychainHome(root: try #require(made.directory).path)
        let given = Mutex<SharedSecret?>(SharedSecret(copying: "a wrong passcode".utf8))
        func open() throws -> EmbeddedService {
            try EmbeddedService(home: home, clocks: made.clock.clocks) { () throws(KeychainError) in
                given.withLock { $0 }
            }
        }
        func search(_ service: EmbeddedService) throws -> ItemMatches {
            var query = ItemQuery(nil, limit: .all)
            query.lookupAttributes = .empty
            return try service.items.copyMatching(query, returning: .attributes, from: TestKeychain.caller)
        }
        var service = try open()
        for _ in 0..<2 {
            #expect(try search(service).locked.count == 1)
            #expect(
                try KeychainSession(service, as: TestKeychain.caller).settledLockStatus().state == .beforeFirstUnlock)
        }
        #expect(try service.lock.status().wrongPasscodes == 1)
        // Other wrong ones are tried only as long as they cause no delay.
        for number in 1...5 {
            given.withLock { $0 = SharedSecret(copying: "wrong passcode \(number)".utf8) }
            #expect(try search(service).locked.count == 1)
        }
        #expect(try service.lock.status().wrongPasscodes == 4)
        given.withLock { $0 = Sample.secret }
        #expect(try KeychainSession(service, as: TestKeychain.caller).settledLockStatus().state == .beforeFirstUnlock)
        try service.lock.unlock(Sample.secret) { _, _ in }
        service.close()
        service = try open()
        // The passcode is not asked for by a question that is not about the lock.
        #expect(try service.lock.status().state == .beforeFirstUnlock)
        #expect(try KeychainSession(service, as: TestKeychain.caller).settledLockStatus().state == .unlocked)
        service.close()
        service = try open()
        let found = try search(service)
        #expect(found.records.count == 1 && found.locked.isEmpty)
        try service.lock.lock(immediately: true)
        #expect(try search(service).locked.count == 1)
        #expect(try KeychainSession(service, as: TestKeychain.caller).settledLockStatus().state == .locked)
        service.close()
    }

    @Test("A wrong passcode changes nothing, in any operation", arguments: Backend.allCases)
    func wrong(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.setPasscode()
        try keychain.add("p", .whenPasscodeSetThisDeviceOnly)
        let wrong = SharedSecret(copying: "not the passcode".utf8)
        let before = try keychain.service.administrator.lockStatus()
        #expect(
            status { () throws(KeychainError) in
                try keychain.service.administrator.changePasscode(from: wrong, to: Sample.secret, rotates: true) {
                    _, _ in
                }
            } == -25293)
        #expect(
            status { () throws(KeychainError) in
                _ = try keychain.service.administrator.removePasscode(wrong) { _, _ in }
            } == -25293)
        #expect(
            status { () throws(KeychainError) in _ = try keychain.service.administrator.createRecoveryKey(wrong) }
                == -25293)
        #expect(
            status { () throws(KeychainError) in _ = try keychain.service.administrator.createRecoveryKey(nil) }
                == -25293)
        #expect(
            status { () throws(KeychainError) in
                try keychain.service.administrator.changeSettings(to: KeybagSettings(graceSeconds: 0), wrong)
            } == -25293
        )
        var after = try keychain.service.administrator.lockStatus()
        #expect(after.wrongPasscodes == 1)
        // Only the daemon knows the program of the wrong passcode.
        #expect(after.guesses.map(\.count) == (backend == .daemon ? [4] : []))
        (after.wrongPasscodes, after.guesses) = (0, [])
        #expect(after == before)
        #expect(try keychain.find("p") == ["v"])
        #expect(status { () throws(KeychainError) in try keychain.setPasscode() } == -50)
        #expect(
            status { () throws(KeychainError) in
                try keychain.service.administrator.changePasscode(
                    from: Sample.secret, to: SharedSecret(copying: "short".utf8), rotates: false
                ) { _, _ in
                }
            } == -50)
    }

    @Test(
        "An unlocked process that receives a wrong passcode stays unlocked; a locked one stays locked",
        arguments: Backend.allCases)
    func wrongUnlock(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.setPasscode()
        try keychain.add("a", .whenUnlocked)
        #expect(status { () throws(KeychainError) in try keychain.unlock("wrong one") } == -25293)
        #expect(try keychain.find("a") == ["v"])
        try keychain.service.administrator.lock(immediately: true)
        #expect(status { () throws(KeychainError) in try keychain.unlock("wrong one") } == -25293)
        #expect(status { () throws(KeychainError) in _ = try keychain.find("a") } == -25308)
    }

    @Test("A passcode cost below the minimum is raised at the unlock")
    func raised() throws {
        let cheap = try TestKeychain(.onDisk)
        try cheap.setPasscode()
        try cheap.add("a", .whenUnlocked)
        let directory = try #require(cheap.directory)
        // The real cost, in this test only.
        let service = try EmbeddedService(home: KeychainHome(root: directory.path), clocks: .system)
        let started = ContinuousClock.now
        try service.lock.unlock(Sample.secret) { _, _ in }
        #expect(ContinuousClock.now - started > .milliseconds(50), "the minimum cost takes no time")
        service.close()
        let again = try EmbeddedService(home: KeychainHome(root: directory.path), clocks: cheap.clock.clocks)
        let second = ContinuousClock.now
        try again.lock.unlock(Sample.secret) { _, _ in }
        #expect(ContinuousClock.now - second > .milliseconds(50), "the cost was not raised")
        #expect(
            try again.items.copyMatching(cheap.query("a"), returning: .data, from: TestKeychain.caller).records.count
                == 1)
        again.close()
    }

    @Test("Many items are resealed, with progress, and all of them can be opened after it", arguments: Backend.allCases)
    func many(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        for number in 0..<600 {
            try keychain.add("account \(number)", number.isMultiple(of: 2) ? .whenUnlocked : .always, data: "\(number)")
        }
        let reported = Mutex<[(Int, Int)]>([])
        try keychain.service.administrator.setPasscode(Sample.secret) { done, total in
            reported.withLock { $0.append((done, total)) }
        }
        let steps = reported.withLock { $0 }
        // latchkeyd drops progress messages that its client does not receive immediately.
        if backend != .daemon { #expect(steps.first?.0 == 0 && steps.last?.0 == 300 && steps.count >= 3) }
        #expect(steps.allSatisfy { $0.1 == 300 })
        #expect(Set(try keychain.find(limit: .all)) == Set((0..<600).map { "\($0)" }))
        #expect(try keychain.service.administrator.check { _ in }.allSatisfy(\.isHealthy))
    }

    @Test(
        "After set and change no file has an old wrapped key, and an older copy opens nothing that is stored later"
    )
    func remains() throws {
        let keychain = try TestKeychain(.onDisk)
        let directory = try #require(keychain.directory)
        try keychain.add("a", .whenUnlocked)
        keychain.service.close()
        func reopened() throws -> TestKeychain { try TestKeychain(in: directory, clock: keychain.clock) }
        let record = { () throws -> [UInt8] in try directory.files()["data/keychain.db"].map { Array($0) } ?? [] }
        let before = try record()
        var current = try reopened()
        try current.setPasscode()
        current.service.close()
        // The wrapped keys of the first keybag: every 40 bytes after a length of 40. This length occurs nowhere else in
        // the file.
        let old = Self.wrappedKeys(in: before)
        #expect(old.count >= 13)
        let afterSet = try directory.files()
        let gone = old.filter { key in !afterSet.values.contains { $0.firstRange(of: key) != nil } }
        // The index key and those of dk and dku stay; the eight keys of the passcode's classes are
        // replaced.
        #expect(gone.count >= 8)
        current = try reopened()
        let wrapped = Self.wrappedKeys(in: try record())
        try current.service.administrator.changePasscode(
            from: Sample.secret, to: SharedSecret(copying: "another passcode".utf8), rotates: false
        ) {
            _, _ in
        }
        current.service.close()
        let afterChange = try directory.files()
        let changed = wrapped.filter { key in !afterChange.values.contains { $0.firstRange(of: key) != nil } }
        #expect(changed.count >= 10)
    }

    private static func wrappedKeys(in file: [UInt8]) -> [[UInt8]] {
        // Class, kind, generation (4 bytes), wrapping, length (2 bytes):
        // 6…12 or 0, 1…3, 0 0 0 n, 1…3, 0 40.
        var keys: [[UInt8]] = []
        var position = 0
        while position + 49 <= file.count {
            let head = file[position..<position + 9]
            let bytes = Array(head)
            if bytes[0] <= 12, (1...3).contains(bytes[1]), bytes[2...4].allSatisfy({ $0 == 0 }),
                (1...9).contains(bytes[5]),
                (1...3).contains(bytes[6]), bytes[7] == 0, bytes[8] == 40
            {
                keys.append(Array(file[position + 9..<position + 49]))
                position += 49
            } else {
                position += 1
            }
        }
        return keys
    }

    @Test(
        "Ten wrong passcodes destroy exactly the items that the passcode protected, if the settings say so",
        arguments: Backend.allCases)
    func wipe(_ backend: Backend) throws {
        for wipes in [false, true] {
            let keychain = try TestKeychain(backend)
            try keychain.setPasscode()
            for protection in ProtectionClass.allCases { try keychain.add(protection.rawValue, protection) }
            try keychain.service.administrator.changeSettings(to: KeybagSettings(wipesAfterTen: wipes), Sample.secret)
            try keychain.enterWrongPasscodes(10)
            #expect(try keychain.service.administrator.lockStatus().hasPasscode == !wipes)
            for protection in ProtectionClass.allCases {
                let expected: Int32 = wipes && protection.needsPasscode ? -25300 : 0
                #expect(
                    status { () throws(KeychainError) in _ = try keychain.find(protection.rawValue) } == expected,
                    "\(protection)")
            }
            // It can be used as a keychain without a passcode, or get a new one.
            guard wipes else { continue }
            try keychain.add("new", .whenUnlocked)
            try keychain.setPasscode("another passcode")
            #expect(try keychain.find("new") == ["v"])
            #expect(try keychain.service.administrator.check { _ in }.allSatisfy(\.isHealthy))
        }
    }

    // MARK: Recovery

    @Test(
        "If the device key is lost, the recovery key restores the items that may leave the device, under a new passcode",
        arguments: [Backend.onDisk, .daemon])
    func recovery(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let directory = try #require(keychain.directory)
        try keychain.setPasscode()
        for protection in ProtectionClass.allCases { try keychain.add(protection.rawValue, protection) }
        let key = try keychain.service.administrator.createRecoveryKey(Sample.secret)
        #expect(try keychain.service.administrator.lockStatus().hasRecoveryKey)
        keychain.service.close()
        try FileManager.default.removeItem(atPath: "\(directory.path)/state/device.key")
        /// Recovers directly on the files, or through a daemon that cannot open them.
        func recover(_ newPasscode: SharedSecret?) throws(KeychainError) -> Int {
            guard backend == .daemon else {
                return try ClosedKeychain.recover(
                    home: KeychainHome(root: directory.path), key: key, newPasscode: newPasscode,
                    clocks: keychain.clock.clocks)
            }
            do {
                let daemon = try TestKeychain(backend, in: directory, clock: keychain.clock)
                return try (daemon.service as? RoutedService)?.administrator.recover(
                    with: key, newPasscode: newPasscode) ?? -1
            } catch {
                throw error as? KeychainError ?? KeychainError(.internalFailure, "\(error)")
            }
        }
        let new = SharedSecret(copying: "after the loss".utf8)
        #expect(try recover(nil) == 4)
        #expect(!FileManager.default.fileExists(atPath: "\(directory.path)/state/device.key"))
        #expect(try recover(new) == 4)
        let recovered = try TestKeychain(backend, in: directory, clock: keychain.clock)
        #expect(status { () throws(KeychainError) in try recovered.unlock() } == -25293)
        try recovered.unlock("after the loss")
        for protection in ProtectionClass.allCases {
            let expected: Int32 = protection.isThisDeviceOnly ? -25300 : 0
            #expect(
                status { () throws(KeychainError) in _ = try recovered.find(protection.rawValue) } == expected,
                "\(protection)")
            if expected != 0 { try recovered.add(protection.rawValue, protection) }
        }
        // The lines that were written under the lost key can be read; the lines after them can be
        // verified.
        if backend == .daemon {
            let verdict = try recovered.service.administrator.verifyAudit()
            #expect(verdict.isIntact, "\(verdict.detail)")
            var lines: [String] = []
            _ = try recovered.service.administrator.auditLines(after: 0, since: nil) { part in
                lines += part
                return true
            }
            #expect(
                lines.first?.contains("\"sequence\":1,") == true
                    && lines.contains { $0.contains("create-recovery-key") })
            #expect(lines.contains { $0.contains("\"recover\"") })
        }
        // After its removal it opens nothing.
        #expect(try recovered.service.administrator.removeRecoveryKey(new))
        #expect(try !recovered.service.administrator.removeRecoveryKey(new))
        recovered.service.close()
        #expect(status { () throws(KeychainError) in _ = try recover(Sample.secret) } == -25293)
    }
}

extension [UInt8] {
    fileprivate func firstRange(of part: [UInt8]) -> Int? {
        Data(self).firstRange(of: Data(part))?.lowerBound
    }
}
