// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainModel
import KeychainSessions
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import LinuxSystem
import SecretMemory
@testable import SecurityKeyTesting
import Synchronization
import Testing

/// Security keys from the device to the item, in each process that can serve a keychain.
@Suite("Security keys of a keychain")
struct SecurityKeyServiceTests {
    // MARK: Enrollment

    @Test(
        "A key that is enrolled is listed, and opens items that require a security key", arguments: Backend.everywhere)
    func enrollment(_ backend: Backend) throws {
        let device = SoftwareAuthenticator()
        let fixture = try SecurityKeyFixture(backend, device)
        let key = try fixture.enroll("blue")
        #expect(try fixture.session.securityKeys() == [key])
        #expect(key.name == "blue" && !key.satisfiesUserPresence)
        #expect(try fixture.session.presenceStatus().securityKeys == 1)
        try fixture.add("A", .latchkeySecurityKey, data: "secret")
        #expect(try fixture.read("A") == "secret")
        #expect(fixture.takeSecretQuestions().isEmpty)
    }

    @Test("An impossible enrollment is refused before the person touches anything", arguments: Backend.allCases)
    func refusedEnrollments(_ backend: Backend) throws {
        let device = SoftwareAuthenticator()
        let fixture = try SecurityKeyFixture(backend, device)
        try fixture.enroll("blue")
        let before = device.commands.count { $0 == .makeCredential }
        #expect(try fixture.error { try $0.enroll("blue") }?.status == .duplicateItem)
        #expect(try fixture.error { try $0.enroll("") }?.status == .param)
        #expect(try fixture.error { try $0.enroll("a\nb") }?.status == .param)
        #expect(try fixture.error { try $0.enroll(String(repeating: "x", count: 129)) }?.status == .param)
        let wrong = try fixture.error { fixture in
            _ = try fixture.session.enrollSecurityKey(
                SecurityKeyRequest(name: "red"), passcode: SharedSecret(copying: "another passcode".utf8))
        }
        #expect(wrong?.status == .authFailed)
        // The device is enrolled already.
        #expect(try fixture.error { try $0.enroll("red") }?.status == .duplicateItem)
        fixture.plug()
        #expect(try fixture.error { try $0.enroll("red") }?.status == .interactionNotAllowed)
        fixture.plug(SoftwareAuthenticator(), SoftwareAuthenticator())
        #expect(try fixture.error { try $0.enroll("red") }?.status == .param)
        #expect(device.commands.count { $0 == .makeCredential } == before)
        #expect(try fixture.session.securityKeys().count == 1)
    }

    @Test("A ninth security key is refused")
    func eight() throws {
        let fixture = try SecurityKeyFixture(.daemon)
        for number in 1...SecurityKeyInfo.maxCount {
            fixture.plug(SoftwareAuthenticator())
            try fixture.enroll("key \(number)")
        }
        let ninth = SoftwareAuthenticator()
        fixture.plug(ninth)
        #expect(try fixture.error { try $0.enroll("key 9") }?.status == .param)
        #expect(ninth.commands.isEmpty)
        #expect(try fixture.session.securityKeys().map(\.name) == (1...8).map { "key \($0)" })
    }

    @Test("A keychain without a passcode has no security keys")
    func noPasscode() throws {
        let device = SoftwareAuthenticator()
        let fixture = try SecurityKeyFixture(.onDisk, device)
        _ = try fixture.session.removePasscode(SecurityKeyFixture.passcode) { _, _ in }
        #expect(try fixture.error { try $0.enroll() } != nil)
        #expect(device.commands.isEmpty)
    }

    @Test("A second key opens existing items, too, if the first one is touched at its enrollment")
    func secondKey() throws {
        let (first, second) = (SoftwareAuthenticator(), SoftwareAuthenticator())
        let fixture = try SecurityKeyFixture(.daemon, first)
        try fixture.enroll("first")
        try fixture.add("A", .latchkeySecurityKey, data: "a")
        fixture.plug(first, second)
        try fixture.enroll("second")
        fixture.plug(second)
        #expect(try fixture.read("A") == "a")
    }

    // MARK: The person

    @Test(
        "Without the enrolled device, with another one, or after a denial, the item stays closed",
        arguments: Backend.everywhere)
    func otherDevices(_ backend: Backend) throws {
        let device = SoftwareAuthenticator()
        let fixture = try SecurityKeyFixture(backend, device)
        try fixture.enroll()
        try fixture.add("A", .latchkeySecurityKey)
        fixture.plug()
        #expect(try fixture.error { _ = try $0.read("A") }?.status == .interactionNotAllowed)
        let sameModel = SoftwareAuthenticator()
        fixture.plug(sameModel)
        #expect(try fixture.error { _ = try $0.read("A") }?.status == .interactionNotAllowed)
        fixture.plug(device)
        device.change { $0.touch = .denied }
        #expect(try fixture.error { _ = try $0.read("A") }?.status == .authFailed)
        device.change { $0.touch = .given }
        fixture.plug(sameModel, device)
        #expect(try fixture.read("A") == "v")
    }

    @Test("The person cancels at the prompt instead of touching the key", arguments: Backend.allCases)
    func cancellation(_ backend: Backend) throws {
        let device = SoftwareAuthenticator()
        let fixture = try SecurityKeyFixture(backend, device)
        try fixture.enroll()
        try fixture.add("A", .latchkeySecurityKey)
        device.change { $0.touch = .never }
        fixture.person.cancelTouches(true)
        #expect(try fixture.error { _ = try $0.read("A") }?.status == .userCanceled)
        #expect(device.waitForCancellation())
    }

    @Test("A context that ends while the key waits for a touch ends the call")
    func endedContext() throws {
        let device = SoftwareAuthenticator()
        let fixture = try SecurityKeyFixture(.onDisk, device)
        try fixture.enroll()
        device.change { $0.touch = .never }
        let context = try fixture.session.createContext()
        BackgroundThread.run {
            guard device.waitUntilTouchIsAwaited() else { return }
            fixture.keychain.service.by(SecurityKeyFixture.caller).endContext(context)
        }
        let failure = try fixture.error { fixture in
            try fixture.session.authenticate(for: .policy(.securityKey), in: context, prompt: AuthenticationPrompt())
        }
        #expect(failure?.authentication == .failed(.appCancel))
    }

    @Test("A touch that comes after a lock opens nothing", arguments: [Backend.onDisk, .daemon])
    func lockDuringTouch(_ backend: Backend) throws {
        let device = SoftwareAuthenticator()
        let fixture = try SecurityKeyFixture(backend, device)
        try fixture.enroll()
        try fixture.add("A", .latchkeySecurityKey)
        let locks = Flag()
        device.change {
            $0.arrival = { [session = fixture.session] command in
                // The last key agreement comes before the touch.
                guard command == .getKeyAgreement, locks.take() else { return }
                try? session.lock(immediately: true)
            }
        }
        #expect(try fixture.error { _ = try $0.read("A") } != nil)
        #expect(!locks.take())
        try fixture.session.unlock(SecurityKeyFixture.passcode) { _, _ in }
        #expect(try fixture.read("A") == "v")
    }

    @Test("Calls at the same time use the device one after the other", arguments: [Backend.onDisk, .daemon])
    func atOnce(_ backend: Backend) async throws {
        let device = SoftwareAuthenticator()
        let fixture = try SecurityKeyFixture(backend, device)
        try fixture.enroll()
        try fixture.add("A", .latchkeySecurityKey)
        let most = Maximum()
        device.change {
            $0.arrival = { _ in
                // Time for another call to connect.
                usleep(5000)
                most.record(device.connectionCount)
            }
        }
        let results = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<4 { group.addTask { try? fixture.read("A") } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results == ["v", "v", "v", "v"])
        #expect(most.value == 1)
    }

    // MARK: The PIN

    @Test("A key with a PIN requires it, also after wrong ones", arguments: Backend.everywhere)
    func wrongPIN(_ backend: Backend) throws {
        let device = SoftwareAuthenticator.withPIN()
        let fixture = try SecurityKeyFixture(backend, device)
        fixture.person.will(.types("1234"))
        try fixture.enroll()
        try fixture.add("A", .latchkeySecurityKey)
        #expect(fixture.takeSecretQuestions() == ["securityKeyPIN"])
        // One that cannot be a PIN is not sent.
        fixture.person.will(.types("9999"), .types("12"), .types("1234"))
        #expect(try fixture.read("A") == "v")
        #expect(fixture.takeSecretQuestions() == ["securityKeyPIN", "securityKeyPIN 2", "securityKeyPIN 1"])
        fixture.person.will(.types("9999"), .types("9998"), .types("9997"), .types("1234"))
        #expect(try fixture.error { _ = try $0.read("A") }?.authentication == .failed(.failed))
        #expect(fixture.person.unusedAnswers == 1)
    }

    @Test("A blocked PIN fails with a hint", arguments: Backend.allCases)
    func blockedPIN(_ backend: Backend) throws {
        let device = SoftwareAuthenticator.withPIN()
        let fixture = try SecurityKeyFixture(backend, device)
        fixture.person.will(.types("1234"))
        try fixture.enroll()
        try fixture.add("A", .latchkeySecurityKey)
        device.setRetries(0)
        fixture.person.will(.types("1234"))
        let failure = try fixture.error { _ = try $0.read("A") }
        #expect(failure?.status == .authFailed)
        #expect(failure?.problem.contains("blocked") == true && failure?.hint?.contains("fido2-token") == true)
    }

    // MARK: User presence

    @Test("Only a key that was enrolled for it satisfies userPresence", arguments: Backend.everywhere, [true, false])
    func userPresence(_ backend: Backend, _ owner: Bool) throws {
        let device = SoftwareAuthenticator()
        let fixture = try SecurityKeyFixture(backend, device)
        try fixture.add("before", .userPresence, data: "b")
        try fixture.enroll(owner: owner)
        try fixture.add("after", .userPresence, data: "a")
        if !owner { fixture.person.will(.types("the passcode"), .types("the passcode")) }
        #expect(try fixture.read("before") == "b")
        #expect(try fixture.read("after") == "a")
        #expect(fixture.takeSecretQuestions() == (owner ? [] : ["passcode", "passcode"]))
    }

    @Test("Without the key, userPresence asks for the passcode", arguments: Backend.allCases)
    func passcodeInstead(_ backend: Backend) throws {
        let device = SoftwareAuthenticator()
        let fixture = try SecurityKeyFixture(backend, device)
        try fixture.enroll(owner: true)
        try fixture.add("A", .userPresence)
        fixture.plug()
        fixture.person.will(.types("the passcode"))
        #expect(try fixture.read("A") == "v")
        #expect(fixture.takeSecretQuestions() == ["passcode"])
        // It does not replace the passcode where the passcode is required.
        fixture.plug(device)
        try fixture.add("B", .devicePasscode)
        #expect(try fixture.error { _ = try $0.read("B") }?.status == .userCanceled)
        #expect(fixture.takeSecretQuestions() == ["passcode"])
    }

    // MARK: Removal

    @Test("A key that items require is removed only with them", arguments: Backend.everywhere)
    func removal(_ backend: Backend) throws {
        let device = SoftwareAuthenticator()
        let fixture = try SecurityKeyFixture(backend, device)
        let key = try fixture.enroll().identifier
        try fixture.add("A", .latchkeySecurityKey)
        try fixture.add("B", [.latchkeySecurityKey, .or, .devicePasscode])
        let (session, passcode) = (fixture.session, SecurityKeyFixture.passcode)
        #expect(try session.removeSecurityKey(key, passcode: nil, dryRun: true) == 1)
        let refused = try fixture.error { _ in
            _ = try session.removeSecurityKey(key, passcode: passcode)
        }
        #expect(refused?.status == .param && refused?.problem.contains("1 item opens only") == true)
        let unproven = try fixture.error { _ in
            _ = try session.removeSecurityKey(key, passcode: nil, deletesItems: true)
        }
        #expect(unproven != nil)
        #expect(try session.securityKeys().count == 1)
        #expect(try session.removeSecurityKey(key, passcode: passcode, deletesItems: true) == 1)
        #expect(try session.securityKeys().isEmpty)
        fixture.person.will(.types("the passcode"))
        #expect(try fixture.read("B") == "v")
        let absent = try fixture.error { _ in
            _ = try session.removeSecurityKey(key, passcode: passcode)
        }
        #expect(absent?.status == .itemNotFound)
    }

    // MARK: Programs without libfido2

    @Test("A program that cannot use security keys says so, and latchkeyd can")
    func noAccess() throws {
        let keychain = try TestKeychain(.onDisk)
        defer { keychain.service.close() }
        let session = KeychainSession(keychain.service, as: SecurityKeyFixture.caller) { ScriptedPerson.place }
        try session.setPasscode(SecurityKeyFixture.passcode) { _, _ in }
        let failure = #expect(throws: KeychainError.self) {
            try session.enrollSecurityKey(SecurityKeyRequest(name: "x"), passcode: SecurityKeyFixture.passcode)
        }
        #expect(failure?.status == .interactionNotAllowed && failure?.hint?.contains("latchkeyd") == true)
    }
}

/// True for the first caller only.
private final class Flag: Sendable {
    private let isTaken = Atomic(false)

    func take() -> Bool { !isTaken.exchange(true, ordering: .relaxed) }
}

/// The largest of some numbers.
private final class Maximum: Sendable {
    private let largest = Atomic(0)

    var value: Int { largest.load(ordering: .relaxed) }

    func record(_ number: Int) { largest.max(number, ordering: .relaxed) }
}
