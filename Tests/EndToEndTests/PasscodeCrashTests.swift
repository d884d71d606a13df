// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
@_spi(Testing) import LatchkeyService
import LinuxSystem
import SecretMemory
import Testing

extension ProcessProofs {
    /// After SIGKILL during a passcode change, the keychain has the old or the new passcode, and
    /// all its items.
    @Suite("Crash of a passcode change")
    struct PasscodeCrashTests {
        @Test(
            "After SIGKILL while the passcode is set, changed or removed, the keychain opens with the old or the new one",
            .long,
            .long
        )
        func killed() throws {
            // `make crash` sets 3000.
            let rounds = ProcessInfo.processInfo.environment["LATCHKEY_CRASH_ROUNDS"].flatMap(Int.init) ?? 300
            var home = try prepared()
            var changes = 0
            for round in 0..<rounds {
                if round % 50 == 49 { home = try prepared() }
                let wanted = round.isMultiple(of: 4) ? 0 : Int.random(in: 1...4)
                let log = try killedWorker(after: wanted, home)
                #expect(!log.contains { $0.hasPrefix("failed") }, "\(log)")
                let made = log.count { $0.hasPrefix("did") }
                #expect(made >= wanted, "the worker exited before it was killed, after \(log.suffix(2))")
                changes += made
                try verify(log, home)
            }
            #expect(changes >= rounds / 2, "only \(changes) changes in \(rounds) rounds")
        }

        private static let count = 40
        private static let passcodes = ["the first passcode", "the second passcode"]

        private func prepared() throws -> TemporaryDirectory {
            let home = try TemporaryDirectory()
            let service = try open(home)
            for number in 0..<Self.count {
                _ = try service.items.add(
                    ItemAddition(
                        .genericPassword, attributes: [.account: .string("account \(number)")],
                        secrets: ItemSecrets(data: SharedSecret(copying: "data \(number)".utf8)),
                        protection: number.isMultiple(of: 4) ? .always : .whenUnlocked), from: caller)
            }
            service.close()
            return home
        }

        /// Returns the output of a worker that is killed at a random time after a number of
        /// changes.
        private func killedWorker(after wanted: Int, _ home: TemporaryDirectory) throws -> [String] {
            let worker = try WatchedWorker(["passcodes"], home: home.path)
            worker.wait(forLines: 1)
            worker.wait(forLines: wanted, startingWith: "did")
            usleep(UInt32.random(in: 0..<40_000))
            return worker.kill()
        }

        private func verify(_ log: [String], _ home: TemporaryDirectory) throws {
            let service = try open(home)
            defer { service.close() }
            // The last acknowledged passcode, or the one that was attempted after it.
            let last = log.last.map { $0.dropFirst(4) }.map(String.init)
            let certain = log.last { $0.hasPrefix("did") }.map { String($0.dropFirst(4)) }
            let possible = [last, certain].compactMap { $0 }
            let found = try unlocked(service)
            if log.last?.hasPrefix("did") == true { #expect(found == certain, "\(log.suffix(2))") }
            if certain != nil { #expect(possible.contains(found), "\(found) after \(log.suffix(2))") }
            let matches = try service.items.copyMatching(
                ItemQuery(.genericPassword, synchronizable: .any, limit: .all), returning: .data, from: caller)
            let data = Set(
                matches.records.compactMap { $0.secrets?.data?.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
            )
            #expect(matches.damaged == 0 && data == Set((0..<Self.count).map { "data \($0)" }))
            let unhealthy = try service.check { _ in }.filter { !$0.isHealthy }
            #expect(unhealthy.isEmpty, "\(unhealthy)")
        }

        /// Returns the passcode that opens the keychain; "none" if it has no passcode.
        private func unlocked(_ service: EmbeddedService) throws -> String {
            guard try service.lock.status().hasPasscode else { return "none" }
            for passcode in Self.passcodes {
                do throws(KeychainError) {
                    try service.lock.unlock(SharedSecret(copying: passcode.utf8)) { _, _ in }
                    return passcode
                } catch {
                    guard error.status == .authFailed else { throw error }
                }
            }
            return "neither"
        }

        private func open(_ home: TemporaryDirectory) throws -> EmbeddedService {
            let clocks = Clocks(wall: { 0 }, boot: .system, passcodeExponent: 10)
            return try EmbeddedService(home: KeychainHome(root: home.path), clocks: clocks)
        }

        private let caller = CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true)
    }
}
