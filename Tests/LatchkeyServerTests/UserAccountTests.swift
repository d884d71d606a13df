// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
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
                _ = try service.add(Items.addition("\(prefix)\(number)", data: data), from: Self.caller)
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
        // What is deleted in one keychain is free for another one.
        let (first, second) = (
            try provider.open(UserKeychain(1, names[0])).service, try provider.open(UserKeychain(1, names[1])).service
        )
        #expect(throws: KeychainError.self) {
            try second.add(Items.addition("more", data: Self.large), from: Self.caller)
        }
        withExtendedLifetime(first) {}
        try registry.deleteKeychain(names[0])
        #expect(throws: Never.self) { try second.add(Items.addition("more", data: Self.large), from: Self.caller) }
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
                for number in 0..<count { _ = try service.add(Items.addition("\(number)"), from: Self.caller) }
            }
        }
        let provider = provider(KeychainQuota(items: 6))
        defer { provider.close() }
        let login = try provider.keychain(of: 1).service
        _ = try login.add(Items.addition("only one more"), from: Self.caller)
        #expect(try fill(login, data: "v") == 0)
        try provider.open(UserKeychain(1, names[0])).service.delete(Items.query("0"), from: Self.caller)
        #expect(try fill(login, data: "v") == 1)
    }

    @Test("Backups in transit and stored files are charged before they are written, and free what they used")
    func transit() throws {
        let limit = 8 << 20
        let provider = provider(KeychainQuota(bytes: limit))
        defer { provider.close() }
        let keychain = try provider.keychain(of: 1)
        let account = try #require(keychain.account)
        let before = account.available
        do {
            let spool = try Spool(in: try #require(keychain.home).stateDirectory, charge: account.charge())
            try spool.write([UInt8](repeating: 1, count: before - 200_000))
            #expect(try fill(keychain.service) <= 1)
            #expect(throws: KeychainError.self) { try spool.write([UInt8](repeating: 1, count: 200_001)) }
            let file = ItemAddition(
                .genericPassword, attributes: [.service: .string("s"), .account: .string("file")], accessGroup: "G1")
            let error = #expect(throws: KeychainError.self) {
                try keychain.service.storeFile(
                    file, replaces: false, from: { () throws(KeychainError) in SharedSecret(.random(count: 100_000)) },
                    caller: Self.caller)
            }
            #expect(error?.status == .diskFull)
            withExtendedLifetime(spool) {}
        }
        #expect(try fill(keychain.service, "after ") > 20)
        #expect(size(of: 1) <= limit)
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
