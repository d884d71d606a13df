// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Synchronization
import Testing

/// Every protection class, in every state of a keychain, under every call. `make docs` writes them as a page.
@Suite("Protection matrix", .serialized)
struct ProtectionMatrixTests {
    @Test(
        "Each class, state and call has the status that the rules require", .long, arguments: State.allCases,
        [Backend.onDisk, .daemon])
    func rules(_ state: State, _ backend: Backend) throws {
        for protection in ProtectionClass.allCases {
            let found = try Self.measured(protection, state, backend)
            for call in Call.allCases {
                #expect(
                    found[call] == Self.expected(protection, state, call),
                    "\(protection.rawValue), \(state.rawValue), \(call.rawValue), \(backend.rawValue)")
            }
        }
    }

    @Test("The page has the status that the rules require for each class, state and call")
    func page() throws {
        var lines = [
            "# Protection matrix", "",
            "The result of each call for an item of each class, in each state of the keychain.",
            "`make docs` makes this page (`ProtectionMatrixTests`).", "",
            "ok is errSecSuccess, closed errSecInteractionNotAllowed (−25308), none errSecItemNotFound",
            "(−25300), unavailable errSecNotAvailable (−25291).", "",
            "| class | Apple's constant | its value |", "|---|---|---|",
        ]
        lines += ProtectionClass.allCases.map { "| `\($0.name)` | `\($0.constant)` | `\($0.rawValue)` |" }
        for state in State.allCases {
            lines += ["", "## \(state.title)", "", "\(state.meaning)", ""]
            lines += [
                "| class | \(Call.allCases.map(\.title).joined(separator: " | ")) |",
                "|---|" + String(repeating: "---|", count: Call.allCases.count),
            ]
            for protection in ProtectionClass.allCases {
                let found = try Self.measured(protection, state, .onDisk)
                for call in Call.allCases {
                    #expect(found[call] == Self.expected(protection, state, call), "\(protection), \(state), \(call)")
                }
                lines.append(
                    "| `\(protection.name)` | \(Call.allCases.map { Self.word(found[$0]) }.joined(separator: " | ")) |"
                )
            }
        }
        try GeneratedPage.write(lines.joined(separator: "\n") + "\n", as: "ProtectionMatrix.md")
    }

    // MARK: The rules

    private static func expected(_ protection: ProtectionClass, _ state: State, _ call: Call) -> Int32 {
        if state == .moved { return -25291 }
        let exists =
            switch state {
            case .noPasscode, .restoredHere: !protection.requiresPasscode
            case .restoredElsewhere: !protection.isThisDeviceOnly
            default: true
            }
        let isOpen =
            switch (protection.accessibility, state) {
            case (.always, _), (_, .noPasscode), (_, .unlocked), (_, .grace), (_, .restoredHere),
                (_, .restoredElsewhere):
                true
            case (.afterFirstUnlock, .locked): true
            default: false
            }
        switch call {
        case .add: return state == .noPasscode && protection.requiresPasscode ? -25291 : isOpen ? 0 : -25308
        case .delete: return exists ? 0 : -25300
        case .readData, .readAttributes, .update: return !exists ? -25300 : isOpen ? 0 : -25308
        }
    }

    // MARK: The measurements

    /// Measures each state once, for the rules and for the page.
    private static func measured(_ protection: ProtectionClass, _ state: State, _ backend: Backend) throws -> [Call:
        Int32]
    {
        let key = "\(state.rawValue) \(protection.rawValue) \(backend.rawValue)"
        if let known = known.withLock({ $0[key] }) { return known }
        let found = try statuses(protection, state, backend)
        known.withLock { $0[key] = found }
        return found
    }

    private static let known = Mutex<[String: [Call: Int32]]>([:])

    private static func statuses(_ protection: ProtectionClass, _ state: State, _ backend: Backend) throws -> [Call:
        Int32]
    {
        var statuses: [Call: Int32] = [:]
        for call in Call.allCases {
            // A separate keychain for each call, so that no call affects the result of another.
            do throws(KeychainError) {
                let keychain = try state.keychain(backend, with: protection)
                statuses[call] = status { () throws(KeychainError) in
                    switch call {
                    case .readData: _ = try keychain.find("item")
                    case .readAttributes: _ = try keychain.find("item", returning: .attributes)
                    case .add: try keychain.add("new", protection)
                    case .update: try keychain.update("item", ItemUpdate(data: SharedSecret(copying: "new".utf8)))
                    case .delete: try keychain.delete("item")
                    }
                }
            } catch {
                statuses[call] = error.status.rawValue
            }
        }
        return statuses
    }

    private static func word(_ status: Int32?) -> String {
        switch status {
        case 0: "ok"
        case -25308: "closed"
        case -25300: "none"
        case -25291: "unavailable"
        default: "\(status ?? 0)"
        }
    }

    enum Call: String, CaseIterable {
        case readData, readAttributes, add, update, delete

        var title: String {
            switch self {
            case .readData: "read data"
            case .readAttributes: "read attributes"
            case .add: "add"
            case .update: "update"
            case .delete: "delete"
            }
        }
    }

    enum State: String, CaseIterable {
        case noPasscode, beforeFirstUnlock, unlocked, grace, locked, afterReboot, moved, restoredHere, restoredElsewhere

        var title: String {
            switch self {
            case .noPasscode: "No passcode"
            case .beforeFirstUnlock: "Before the first unlock"
            case .unlocked: "Unlocked"
            case .grace: "Locked, within the grace period"
            case .locked: "Locked"
            case .afterReboot: "After a reboot"
            case .moved: "Moved to another device"
            case .restoredHere: "Restored here"
            case .restoredElsewhere: "Restored elsewhere"
            }
        }

        var meaning: String {
            switch self {
            case .noPasscode:
                "No passcode is set: only the device key protects the keychain. Items of\n`passcode-set-this-device` cannot exist."
            case .beforeFirstUnlock:
                "A passcode is set, but this process or latchkeyd has not received it. An attacker that has the\nfiles and the device key is in this state."
            case .unlocked: "The passcode was given."
            case .grace: "Locked less than ten seconds ago."
            case .locked: "Locked, and the grace period is over. Deleting by key attributes needs no key."
            case .afterReboot: "The machine was restarted."
            case .moved: "A copy of the whole directory without the device key."
            case .restoredHere:
                "Saved, and restored on the same device; unlocked. A backup never contains items of\n`passcode-set-this-device`."
            case .restoredElsewhere:
                "Saved, and restored on another device; unlocked. Items of ThisDeviceOnly classes are not restored."
            }
        }

        /// A keychain in this state, with an item of the class if the state allows it.
        func keychain(_ backend: Backend, with protection: ProtectionClass) throws(KeychainError) -> TestKeychain {
            do {
                let made = try TestKeychain(backend)
                if self != .noPasscode { try made.setPasscode() }
                if self != .noPasscode || !protection.requiresPasscode { try made.add("item", protection) }
                switch self {
                case .noPasscode, .unlocked: return made
                case .grace:
                    try made.service.administrator.lock(immediately: false)
                    made.clock.advance(by: 5)
                    return made
                case .locked:
                    try made.service.administrator.lock(immediately: true)
                    return made
                case .beforeFirstUnlock: return try made.reopened()
                case .afterReboot:
                    made.clock.reboot()
                    return try made.reopened()
                case .moved:
                    made.service.close()
                    try FileManager.default.removeItem(atPath: "\(try #require(made.directory).path)/state/device.key")
                    return try made.reopened()
                case .restoredHere:
                    try Self.transfer(from: made, to: made)
                    return made
                case .restoredElsewhere:
                    let other = try TestKeychain(backend)
                    try other.setPasscode()
                    try Self.transfer(from: made, to: other)
                    return other
                }
            } catch {
                throw error as? KeychainError ?? KeychainError(.internalFailure, "\(error)")
            }
        }

        private static func transfer(from one: TestKeychain, to other: TestKeychain) throws {
            var file: [UInt8] = []
            let passphrase = SharedSecret(copying: "a passphrase".utf8)
            _ = try one.service.administrator.backup(
                under: passphrase, passcode: Sample.secret,
                to: { (bytes) throws(KeychainError) in file += Array(bytes) },
                progress: { _, _ in })
            _ = try other.service.administrator.restore(
                under: passphrase, passcode: Sample.secret, merges: false, dryRun: false,
                from: { (buffer) throws(KeychainError) in
                    let count = min(buffer.count, file.count)
                    buffer.copyBytes(from: file.prefix(count))
                    file.removeFirst(count)
                    return count
                }, progress: { _, _ in })
        }
    }
}
