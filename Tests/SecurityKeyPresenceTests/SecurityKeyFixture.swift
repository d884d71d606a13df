// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainSessions
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import Presence
import SecretMemory
import SecurityKey
import SecurityKeyPresence
@testable import SecurityKeyTesting
import Synchronization

/// A keychain with a passcode, a program that uses it, and sockets for security keys.
final class SecurityKeyFixture: Sendable {
    static let passcode = SharedSecret(copying: "the passcode".utf8)
    static let caller = CallerIdentity(executable: "/usr/bin/example", declaredGroups: ["G1"])

    let keychain: TestKeychain
    let session: KeychainSession
    private let plugged: PluggedDevices

    var person: ScriptedPerson { keychain.person }

    init(_ backend: Backend, _ devices: SoftwareAuthenticator...) throws {
        let plugged = PluggedDevices(devices)
        self.plugged = plugged
        let person = ScriptedPerson()
        person.use(ConnectedSecurityKeys { plugged.keys })
        keychain = try TestKeychain(backend, person: person)
        session = KeychainSession(keychain.service, as: Self.caller) { ScriptedPerson.place }
        try session.setPasscode(Self.passcode) { _, _ in }
    }

    /// Connects these devices, and no others.
    func plug(_ devices: SoftwareAuthenticator...) { plugged.set(devices) }

    @discardableResult
    func enroll(_ name: String = "blue", owner: Bool = false) throws(KeychainError) -> SecurityKeyInfo {
        try session.enrollSecurityKey(
            SecurityKeyRequest(name: name, satisfiesUserPresence: owner), passcode: Self.passcode)
    }

    func add(_ account: String, _ flags: AccessControlFlags, data: String = "v") throws(KeychainError) {
        _ = try session.add(
            ItemAddition(
                .genericPassword, attributes: [.account: .string(account)],
                secrets: ItemSecrets(data: SharedSecret(copying: data.utf8)), protection: .whenUnlocked,
                accessControlFlags: flags))
    }

    /// The data of an item.
    func read(_ account: String) throws(KeychainError) -> String? {
        let query = ItemQuery(.genericPassword, attributes: [.account: .string(account)])
        let found = try session.copyMatching(query, returning: .data).records.first
        return found?.secrets?.data.map { $0.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
    }

    /// The error of a call; nil for success.
    func error(_ body: (SecurityKeyFixture) throws -> Void) throws -> KeychainError? {
        do {
            try body(self)
            return nil
        } catch let error as KeychainError {
            return error
        }
    }

    /// Returns the questions since the last call, except for touches: their prompts may come too late.
    func takeSecretQuestions() -> [String] {
        person.takeQuestions().filter { $0.factor != .securityKey }.map {
            var text = $0.factor.rawValue
            if case .wrongSecret(let left)? = $0.previousFailure { text += " \(left)" }
            return text
        }
    }

    deinit { keychain.service.close() }
}

/// The devices that are connected now.
private final class PluggedDevices: Sendable {
    private let devices: Mutex<[SoftwareAuthenticator]>

    init(_ devices: [SoftwareAuthenticator]) { self.devices = Mutex(devices) }

    func set(_ new: [SoftwareAuthenticator]) { devices.withLock { $0 = new } }

    var keys: [SecurityKey] { devices.withLock { $0 }.map(\.key) }
}

extension SoftwareAuthenticator {
    static func withPIN(_ pin: String = "1234") -> SoftwareAuthenticator {
        var settings = Settings()
        settings.pin = pin
        return SoftwareAuthenticator(settings)
    }
}
