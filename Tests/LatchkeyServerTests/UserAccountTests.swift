// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import LatchkeyClient
@testable import LatchkeyOperations
@testable import LatchkeyServer
@_spi(Testing) import LatchkeyService
import LinuxSystem
import SecretMemory
import Testing

/// All keychains of a user, their stored files, audit logs and backups in transit have one account.
@Suite("The account of a user")
struct UserAccountTests {
    private static let caller = CallerIdentity(executable: "/usr/bin/example", declaredGroups: ["G1"])
    private static let large = String(repeating: "x", count: 100_000)
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func provider(_ quota: KeychainQuota) -> HomeProvider {
        HomeProvider(stateDirectory: directory.path, clocks: TestClock().clocks, quota: quota)
    }

    /// Everything that a user has on the disk, in bytes.
    private func size(of user: UInt32) -> Int {
        let root = "\(directory.path)/users/\(user)"
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: root)) ?? []
        return paths.reduce(0) { total, path in
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(root)/\(path)")
            guard attributes?[.type] as? FileAttributeType == .typeRegular else { return total }
            // The index of a log is memory that processes share, and is not kept.
            return path.hasSuffix("-shm") ? total : total + (attributes?[.size] as? Int ?? 0)
        }
    }

    /// Adds items until one is refused; returns the number of those that were stored.
    private func fill(
        _ service: any KeychainService, _ prefix: String = "", data: String = large
    ) throws -> Int {
        for number in 0..<200 {
            do throws(KeychainError) {
                _ = try service.by(Self.caller).add(Items.addition("\(prefix)\(number)", data: data))
            } catch {
                #expect(error.status == .diskFull && error.hint != nil, "\(error)")
                return number
            }
        }
        Issue.record("nothing was refused")
        return 200
    }

    private static func names(_ count: Int) throws -> [KeychainName] {
        try (0..<count).map { try #require(KeychainName("named-\($0)")) }
    }

    @Test("However many keychains a user has, together they stay below the limit, and another user has a limit too")
    func bytes() throws {
        let limit = 8 << 20
        let provider = provider(KeychainQuota(bytes: limit))
        defer { provider.close() }
        let registry = try provider.registry(of: 1)
        let login = try provider.keychain(of: 1).service
        let names = try Self.names(4)
        for name in names { try registry.createKeychain(name, passcode: nil) }
        var stored = 0
        for name in names { stored += try fill(provider.open(UserKeychain(1, name)).service) }
        stored += try fill(login)
        // One keychain alone would hold as many.
        #expect((20...80).contains(stored), "\(stored)")
        #expect(size(of: 1) <= limit, "\(size(of: 1))")
        #expect(throws: KeychainError.self) {
            try registry.createKeychain(try #require(KeychainName("one-more")), passcode: nil)
        }
        #expect(try fill(provider.keychain(of: 2).service) > 20)
        // Space that is freed in one keychain is free for another one.
        let (first, second) = (
            try provider.open(UserKeychain(1, names[0])).service, try provider.open(UserKeychain(1, names[1])).service
        )
        #expect(throws: KeychainError.self) {
            try second.items.add(Items.addition("more", data: Self.large), from: Self.caller)
        }
        withExtendedLifetime(first) {}
        try registry.deleteKeychain(names[0])
        #expect(throws: Never.self) {
            try second.items.add(Items.addition("more", data: Self.large), from: Self.caller)
        }
    }

    @Test("The items of all keychains of a user have one limit, also when the daemon was started anew")
    func items() throws {
        let names = try Self.names(2)
        do {
            let provider = provider(KeychainQuota(items: 6))
            defer { provider.close() }
            for name in names { try provider.registry(of: 1).createKeychain(name, passcode: nil) }
            for (name, count) in zip(names, [3, 2]) {
                let service = try provider.open(UserKeychain(1, name)).service
                for number in 0..<count { _ = try service.items.add(Items.addition("\(number)"), from: Self.caller) }
            }
        }
        let provider = provider(KeychainQuota(items: 6))
        defer { provider.close() }
        let login = try provider.keychain(of: 1).service
        _ = try login.items.add(Items.addition("only one more"), from: Self.caller)
        #expect(try fill(login, data: "v") == 0)
        _ = try provider.open(UserKeychain(1, names[0])).service.items.delete(Items.query("0"), from: Self.caller)
        #expect(try fill(login, data: "v") == 1)
    }

    @Test("Stored files are charged before they are written, and free the used bytes")
    func transit() throws {
        let limit = 8 << 20
        let provider = provider(KeychainQuota(bytes: limit))
        defer { provider.close() }
        let keychain = try provider.keychain(of: 1)
        let account = try #require(keychain.account)
        let before = account.available
        do {
            let file = account.charge()
            #expect(file.add(before - 200_000))
            #expect(try fill(keychain.service) <= 1)
            let error = #expect(throws: KeychainError.self) {
                try keychain.service.files.store(
                    Self.file("file"), replaces: false,
                    from: { () throws(KeychainError) in SharedSecret(.random(count: 100_000)) }, caller: Self.caller)
            }
            #expect(error?.status == .diskFull)
            withExtendedLifetime(file) {}
        }
        #expect(try fill(keychain.service, "after ") > 20)
        #expect(size(of: 1) <= limit)
    }

    @Test("All backups in transit of a user together have one limit, beside that of the keychains")
    func backupsInTransit() throws {
        let limit = 8 << 20
        let provider = provider(KeychainQuota(bytes: limit))
        defer { provider.close() }
        let names = try Self.names(3)
        for name in names { try provider.registry(of: 1).createKeychain(name, passcode: nil) }
        let keychains = try names.map { try provider.open(UserKeychain(1, $0)) }
        let left = try #require(keychains.first?.account).available
        var spools = try keychains.map { keychain in
            let charge = try #require(keychain.account).charge(inTransit: true)
            return try Spool(in: try #require(keychain.home).stateDirectory, charge: charge)
        }
        for spool in spools { try spool.write([UInt8](repeating: 1, count: limit / 3)) }
        #expect(throws: KeychainError.self) { try spools[0].write([UInt8](repeating: 1, count: 3)) }
        #expect(keychains.first?.account?.available == left)
        // They take nothing from a change of a database.
        #expect(try fill(keychains[0].service) > 20)
        spools.removeLast()
        #expect(throws: Never.self) { try spools[0].write([UInt8](repeating: 1, count: 3)) }
    }

    /// A backup of this part of the space that the limit leaves, in hundredths, and so many stored files in it.
    @Test(
        "A backup of a keychain that is nearly at its limit is restored into an empty account, also with its files",
        .long,
        arguments: [(40, 0), (90, 0), (90, 4)])
    func restoration(_ percent: Int, _ files: Int) throws {
        let phrase = SharedSecret(copying: "plum tree violin".utf8)
        let target = try TemporaryDirectory()
        let providers = [directory, target].map {
            HomeProvider(
                stateDirectory: $0.path, clocks: TestClock().clocks,
                quota: KeychainQuota(bytes: 8 << 20))
        }
        let services = try providers.map {
            RoutedService(try KeychainServer($0, reader: CallerReader(commands: [], entitlements: nil)))
        }
        defer { for service in services { service.close() } }
        let accounts = try providers.map { try #require(try $0.keychain(of: geteuid()).account) }
        let fileLength = 500_000
        let items = (accounts[0].available * percent / 100 - files * (fileLength + 20_000)) / 104_000
        #expect(items > 10)
        for number in 0..<files {
            let rest = SystemMutex(fileLength)
            try services[0].by(Self.caller).storeFile(
                Self.file("\(number)"), replaces: false,
                from: { () throws(KeychainError) in
                    let count = rest.withLock { rest in
                        defer { rest -= min(rest, 100_000) }
                        return min(rest, 100_000)
                    }
                    return count > 0 ? SharedSecret(.random(count: count)) : nil
                })
        }
        for number in 0..<items {
            _ = try services[0].by(Self.caller).add(Items.addition("\(number)", data: Self.large, group: "G1"))
        }
        let backup = BackupInMemory()
        let saved = try services[0].administrator.backup(
            under: phrase, passcode: nil, including: files > 0 ? .files : [],
            to: backup.write, progress: { _, _ in })
        #expect(saved.files == files)
        let report = try services[1].administrator.restore(
            under: phrase, passcode: nil, merges: true, dryRun: false,
            from: backup.read(into:), progress: { _, _ in })
        #expect(report.added == items + files && report.files == files, "\(report)")
        let all = try services[1].by(Self.caller).copyMatching(
            ItemQuery(.genericPassword, limit: .all), returning: .attributes)
        #expect(all.records.count == items + files)
    }

    @Test("The account of a user ends with the last keychain that is open, and begins anew as it was")
    func closing() throws {
        let provider = HomeProvider(
            stateDirectory: directory.path, clocks: TestClock().clocks, quota: KeychainQuota(bytes: 8 << 20),
            open: OpenKeychains(idleSeconds: 0))
        defer { provider.close() }
        let name = try #require(try Self.names(1).first)
        try provider.registry(of: 1).createKeychain(name, passcode: nil)
        var login: ServedKeychain? = try provider.keychain(of: 1)
        do {
            let named = try provider.open(UserKeychain(1, name))
            _ = try named.service.items.add(Items.addition("a", data: Self.large), from: Self.caller)
            #expect(named.account === login?.account)
        }
        provider.closeIdle()
        #expect(provider.openCount == 1 && provider.accountCount == 1)
        #expect(login != nil)
        login = nil
        provider.closeIdle()
        #expect(provider.openCount == 0)
        #expect(eventually { provider.accountCount == 0 })
        let account = try #require(try provider.keychain(of: 1).account)
        // The other keychain counts although it is closed.
        #expect(account.available < 8 << 20 - 1 << 20 - 100_000)
        #expect(account.items(without: "") == 1)
    }

    private static func file(_ account: String) -> ItemAddition {
        ItemAddition(
            .genericPassword, attributes: [.service: .string("s"), .account: .string(account + " file")],
            accessGroup: "G1")
    }

    @Test("Changes of several keychains of a user at once stay below the limit")
    func concurrent() throws {
        let limit = 6 << 20
        let provider = provider(KeychainQuota(bytes: limit))
        defer { provider.close() }
        let names = try Self.names(4)
        for name in names { try provider.registry(of: 1).createKeychain(name, passcode: nil) }
        let ended = SystemMutex(0)
        for name in names {
            BackgroundThread.run {
                _ = try? fill(provider.open(UserKeychain(1, name)).service)
                ended.withLock { $0 += 1 }
            }
        }
        #expect(eventually { ended.withLock { $0 } == names.count })
        #expect(size(of: 1) <= limit, "\(size(of: 1))")
    }
}
