// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import LatchkeyOperations
@testable import LatchkeyServer
@_spi(Testing) import LatchkeyService
import LinuxSystem
import SecretMemory
import Synchronization
import Testing

/// A system daemon keeps only some keychains open, and loses no data by closing the others.
@Suite("Keychains of many users", .serialized)
struct IdleKeychainTests {
    private let directory: TemporaryDirectory
    private let caller = CallerIdentity(executable: "/usr/bin/example")

    init() throws { directory = try TemporaryDirectory() }

    private func provider(_ open: OpenKeychains = OpenKeychains(), quota: KeychainQuota? = nil) -> HomeProvider {
        HomeProvider(stateDirectory: directory.path, clocks: TestClock().clocks, quota: quota, open: open)
    }

    @Test("An event of a user's session locks the keychain of that user only; the sleep concerns every user")
    func eventsOfOneUser() throws {
        let provider = provider()
        let server = try KeychainServer(provider, reader: CallerReader(commands: [], entitlements: nil))
        defer { server.stop() }
        let passcode = SharedSecret(copying: "a passcode".utf8)
        let services = try [1000, 1001].map { (user: UInt32) in try provider.keychain(of: user).service }
        for service in services { try service.lock.setPasscode(passcode, progress: { _, _ in }) }
        func states() throws -> [LockState] { try services.map { try $0.lock.status().state } }
        #expect(try states() == [.unlocked, .unlocked])
        server.handleSessionEvent(.end, of: 1002)
        #expect(try states() == [.unlocked, .unlocked])
        server.handleSessionEvent(.end, of: 1001)
        #expect(try states() == [.unlocked, .locked])
        for service in services {
            try service.lock.unlock(passcode, progress: { _, _ in })
            try service.lock.changeSettings(to: KeybagSettings(locksOnSleep: true), passcode)
        }
        server.handleSessionEvent(.sleep)
        #expect(try states() == [.locked, .locked])
    }

    private var descriptors: Int { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0 }

    @Test("Two thousand users leave only the allowed number of keychains open, and each finds its item again", .long)
    func manyUsers() throws {
        let count = Int(ProcessInfo.processInfo.environment["LATCHKEY_USERS"] ?? "") ?? 2000
        let provider = provider(OpenKeychains(idleCount: 8))
        defer { provider.close() }
        let before = descriptors
        for user in 0..<count {
            let keychain = try provider.keychain(of: 100_000 + UInt32(user))
            _ = try keychain.service.items.add(Items.addition("a", data: "of \(user)"), from: caller)
        }
        #expect(provider.openCount <= 8)
        // Other tests open files at the same time. Each open keychain has at least four files, so
        // 2,000 keychains would have thousands.
        #expect(descriptors < before + count, "\(before) before, \(descriptors) after")
        for user in stride(from: 0, to: count, by: 97) {
            let keychain = try provider.keychain(of: 100_000 + UInt32(user))
            #expect(
                try keychain.service.items.copyMatching(Items.query("a"), returning: .data, from: caller).records.map(
                    \.text)
                    == ["of \(user)"])
        }
    }

    @Test(
        "A keychain in use or unlocked is not closed; the next user is refused, and the others are unaffected"
    )
    func inUse() throws {
        let provider = provider(OpenKeychains(idleCount: 1, count: 3))
        defer { provider.close() }
        let held = try provider.keychain(of: 1)
        let passcode = SharedSecret(copying: "correct horse battery".utf8)
        do {
            let locked = try provider.keychain(of: 2)
            try locked.service.lock.setPasscode(passcode, progress: { _, _ in })
            try locked.service.lock.unlock(passcode, progress: { _, _ in })
        }
        do { _ = try provider.keychain(of: 3) }
        #expect(provider.openCount == 3)
        // The third is idle and can be closed without loss.
        let fourth = try provider.keychain(of: 4)
        #expect(provider.openCount == 3)
        let error = #expect(throws: KeychainError.self) { try provider.keychain(of: 5) }
        #expect(error?.status == .notAvailable && error?.problem.contains("3 keychains are open") == true)
        #expect(try provider.keychain(of: 2).service.lock.status().state == .unlocked)
        _ = try held.service.items.add(Items.addition("a"), from: caller)
        _ = try fourth.service.items.add(Items.addition("a"), from: caller)
    }

    @Test("An idle keychain is closed after its timeout and its home released; one in use is not")
    func idle() throws {
        let provider = provider(OpenKeychains(idleSeconds: 0))
        defer { provider.close() }
        var held: ServedKeychain? = try provider.keychain(of: 1)
        do { _ = try provider.keychain(of: 2) }
        provider.closeIdle()
        #expect(provider.openCount == 1)
        #expect(throws: Never.self) { try HomeOwnership.acquire(KeychainHome(root: "\(directory.path)/users/2")) }
        #expect(throws: KeychainError.self) {
            try HomeOwnership.acquire(KeychainHome(root: "\(directory.path)/users/1"))
        }
        #expect(try held?.service.status().counts.isEmpty == true)
        held = nil
        provider.closeIdle()
        #expect(provider.openCount == 0)
    }

    @Test("Keychains that many threads open and close as idle concurrently lose no item")
    func contention() throws {
        let provider = provider(OpenKeychains(idleCount: 1, idleSeconds: 0))
        defer { provider.close() }
        let failures = FailureList()
        let running = DispatchGroup()
        for thread in 0..<6 {
            running.enter()
            BackgroundThread.run {
                defer { running.leave() }
                for round in 0..<30 {
                    do {
                        let keychain = try provider.keychain(of: UInt32(1 + (thread + round) % 3))
                        _ = try keychain.service.items.add(Items.addition("\(thread) \(round)"), from: caller)
                    } catch {
                        failures.add("\(error)")
                    }
                    provider.closeIdle()
                }
            }
        }
        #expect(eventually { running.wait(timeout: .now()) == .success })
        #expect(failures.all.isEmpty)
        let counts = try (1...3).map { user in
            try provider.keychain(of: UInt32(user)).service.items.copyMatching(
                ItemQuery(.genericPassword, limit: .all), returning: .attributes, from: caller
            ).records.count
        }
        #expect(counts.reduce(0, +) == 180)
    }

    @Test(
        "During a recovery the keychain is not closed as idle, and the daemon does not release the home"
    )
    func recovery() throws {
        let passcode = SharedSecret(copying: "correct horse battery".utf8)
        let newPasscode = SharedSecret(copying: "plum tree violin".utf8)
        let first = provider()
        let key: SharedSecret
        do {
            let service = try first.keychain(of: 1).service
            try service.lock.setPasscode(passcode, progress: { _, _ in })
            key = try service.lock.createRecoveryKey(passcode)
        }
        first.close()

        let provider = provider(OpenKeychains(idleSeconds: 0))
        defer { provider.close() }
        let home = KeychainHome(root: "\(directory.path)/users/1")
        // The slow work that a recovery waits for after it has acquired the home.
        let lock = try FileLock("\(home.stateDirectory)/passcode.lock")
        let failures = FailureList()
        let recovering = DispatchGroup()
        recovering.enter()
        BackgroundThread.run {
            defer { recovering.leave() }
            do { _ = try provider.rescue(of: 1).recover(with: key, newPasscode: newPasscode) } catch {
                failures.add("\(error)")
            }
        }
        #expect(eventually { provider.holdsHome(of: 1) })
        do { _ = try provider.keychain(of: 1) }
        provider.closeIdle()
        #expect(provider.openCount == 1)
        // Without the lease the home would be acquired twice here: "another latchkeyd has the
        // keychain".
        #expect(throws: Never.self) { try provider.keychain(of: 1) }
        lock.release()
        #expect(eventually { recovering.wait(timeout: .now()) == .success })
        #expect(failures.all.isEmpty, "\(failures.all)")

        do { _ = try provider.keychain(of: 1) }
        provider.closeIdle()
        #expect(provider.openCount == 0 && !provider.holdsHome(of: 1))
        #expect(throws: Never.self) {
            try provider.keychain(of: 1).service.lock.unlock(newPasscode, progress: { _, _ in })
        }
    }

    // MARK: Quota

    @Test("A keychain at its quota of bytes answers -34, keeps its items, and accepts new ones after a deletion")
    func bytes() throws {
        let provider = provider(quota: KeychainQuota(bytes: 1 << 20))
        defer { provider.close() }
        let service = try provider.keychain(of: 1).service
        let large = String(repeating: "x", count: 100_000)
        var stored = 0
        var refusal: KeychainError?
        while refusal == nil, stored < 20 {
            do throws(KeychainError) {
                _ = try service.items.add(Items.addition("\(stored)", data: large), from: caller)
                stored += 1
            } catch {
                refusal = error
            }
        }
        #expect(refusal?.status == .diskFull && (5...10).contains(stored), "\(stored) stored")
        let path = "\(directory.path)/users/1/data/keychain.db"
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? .max <= 1 << 20)
        #expect(
            try service.items.copyMatching(Items.query("0"), returning: .data, from: caller).records.first?.text
                == large)
        _ = try service.items.delete(Items.query("0"), from: caller)
        #expect(throws: Never.self) { try service.items.add(Items.addition("again", data: large), from: caller) }
        // The quota of another user is separate.
        #expect(throws: Never.self) {
            try provider.keychain(of: 2).service.items.add(Items.addition("0", data: large), from: caller)
        }
    }

    @Test("A keychain holds at most its quota of items, and deleted items no longer count")
    func items() throws {
        let provider = provider(quota: KeychainQuota(items: 5))
        defer { provider.close() }
        let service = try provider.keychain(of: 1).service
        for index in 0..<5 { _ = try service.items.add(Items.addition("\(index)"), from: caller) }
        let error = #expect(throws: KeychainError.self) { try service.items.add(Items.addition("5"), from: caller) }
        #expect(error?.status == .diskFull && error?.problem.contains("5 items") == true)
        // An update of an existing item does not count.
        let new = ItemUpdate(data: SharedSecret(copying: "new".utf8))
        #expect(throws: Never.self) { try service.items.update(Items.query("1"), with: new, from: caller) }
        _ = try service.items.delete(Items.query("0"), from: caller)
        #expect(throws: Never.self) { try service.items.add(Items.addition("5"), from: caller) }
        #expect(throws: KeychainError.self) { try service.items.add(Items.addition("6"), from: caller) }
    }

    @Test("An identity is not stored and does not count if only its certificate or its key fits the quota")
    func identity() throws {
        let provider = provider(quota: KeychainQuota(items: 2))
        defer { provider.close() }
        let service = try provider.keychain(of: 1).service
        _ = try service.items.add(Items.addition("0"), from: caller)
        let identity = IdentityAddition(
            certificate: ItemAddition(.certificate, attributes: [.issuer: .data([1]), .serialNumber: .data([1])]),
            key: ItemAddition(.key, attributes: [.applicationLabel: .data([1])]))
        let error = #expect(throws: KeychainError.self) { try service.identities.add([identity], from: caller) }
        #expect(error?.status == .diskFull)
        let query = ItemQuery(.certificate, limit: .all)
        #expect(try service.items.copyMatching(query, returning: .attributes, from: caller).isEmpty)
        #expect(throws: Never.self) { try service.items.add(Items.addition("1"), from: caller) }
    }

    @Test("A change that is rolled back does not change the number of items")
    func ownershipReleased() throws {
        let provider = provider(quota: KeychainQuota(items: 3))
        defer { provider.close() }
        let service = try provider.keychain(of: 1).service
        _ = try service.items.add(Items.addition("0"), from: caller)
        let passphrase = SharedSecret(copying: "plum tree violin".utf8)
        let backup = Mutex<[UInt8]>([])
        _ = try service.backups.write(
            under: passphrase, passcode: nil, to: { bytes in backup.withLock { $0 += bytes } }, progress: { _, _ in })
        for index in 1..<3 { _ = try service.items.add(Items.addition("\(index)"), from: caller) }
        let position = Mutex(0)
        // During the dry run the keychain contains only the restored item.
        _ = try service.backups.restore(
            under: passphrase, passcode: nil, merges: false, dryRun: true,
            from: { buffer in
                let whole = backup.withLock { $0 }
                let part = whole.dropFirst(position.withLock { $0 }).prefix(buffer.count)
                buffer.copyBytes(from: part)
                position.withLock { $0 += part.count }
                return part.count
            }, progress: { _, _ in })
        #expect(throws: KeychainError.self) { try service.items.add(Items.addition("3"), from: caller) }
    }

    @Test("A search for a client returns at most its limit of bytes, but always at least one item")
    func resultLimit() throws {
        let provider = provider()
        defer { provider.close() }
        let service = try provider.keychain(of: 1).service
        let large = String(repeating: "x", count: 10_000)
        for index in 0..<3 { _ = try service.items.add(Items.addition("\(index)", data: large), from: caller) }
        func count(_ limit: Int, _ query: ItemQuery) throws -> Int {
            try ResultLimit.$current.withValue(limit) {
                try service.items.copyMatching(query, returning: .data, from: caller).records.count
            }
        }
        // The attributes of an item count as 1 KiB.
        let limit = 3 * (10_000 + 1024)
        #expect(try count(limit, Items.query(limit: .all)) == 3)
        let error = #expect(throws: KeychainError.self) { try count(limit - 1, Items.query(limit: .all)) }
        #expect(error?.status == .allocate)
        #expect(try count(1, Items.query("0")) == 1)
    }

    @Test("A backup that is larger than the quota is refused during its transfer")
    func spool() throws {
        let account = StorageAccount(maxBytes: 10)
        let spool = try Spool(in: directory.path, charge: account.charge(inTransit: true))
        try [UInt8](repeating: 1, count: 10).withUnsafeBytes { bytes in try spool.write(bytes) }
        let error = #expect(throws: KeychainError.self) {
            try [1 as UInt8].withUnsafeBytes { bytes in try spool.write(bytes) }
        }
        #expect(error?.status == .diskFull)
        #expect(account.available == 10)
        // Without a quota, every backup has a limit.
        let short = try Spool(in: directory.path, charge: nil, limit: 10)
        #expect(throws: KeychainError.self) { try short.write([UInt8](repeating: 1, count: 11)) }
    }

    @Test(
        "The configuration file is accepted as a whole, or refused with the line number",
        arguments: [
            ("", KeychainQuota()), ("# nothing\n\n", KeychainQuota()),
            ("max-bytes-per-user = 2 MiB # small\nmax-items-per-user=7", KeychainQuota(bytes: 2 << 20, items: 7)),
            ("max-bytes-per-user = 1 GiB", KeychainQuota(bytes: 1 << 30)), ("max-bytes-per-user = 10 B", nil),
            ("max-bytes-per-user = 256", nil), ("max-bytes-per-user = -1 MiB", nil),
            ("max-bytes-per-user = 9223372036854775807 GiB", nil),
            ("max-items-per-user = 0", nil), ("max-items-per-user = many", nil), ("max-items-per-user", nil),
            ("color = red", nil),
            ("max-items-per-user = 1\nmax-items-per-user = 2", nil), ("= 5", nil),
        ] as [(String, KeychainQuota?)])
    func configuration(_ text: String, _ expected: KeychainQuota?) throws {
        let path = "\(directory.path)/daemon.conf"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        chmod(path, 0o644)
        #expect((try? DaemonConfiguration.load(from: path, owner: geteuid()))?.quota == expected)
        chmod(path, 0o666)
        #expect(throws: SystemError.self) { try DaemonConfiguration.load(from: path, owner: geteuid()) }
    }
}

private final class FailureList: Sendable {
    private let texts = Mutex<[String]>([])
    var all: [String] { texts.withLock { $0 } }
    func add(_ text: String) { texts.withLock { $0.append(text) } }
}
