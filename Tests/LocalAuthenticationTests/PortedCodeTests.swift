// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import LocalAuthentication
import Testing

// Code as apps for iOS contain it, unchanged. That it compiles is most of the proof.

#if !canImport(LocalAuthentication)
    #error("a target with the alias has Apple's module name")
#endif

/// A view model with completion handlers.
private final class UnlockModel: @unchecked Sendable {
    private(set) var message = ""
    private(set) var isUnlocked = false

    func unlock(with context: LAContext = LAContext()) {
        var error: NSError?
        if context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error) {
            context.evaluatePolicy(
                .deviceOwnerAuthenticationWithBiometrics, localizedReason: "Unlock your notes"
            ) { success, authenticationError in
                if success {
                    self.isUnlocked = true
                } else {
                    self.message = authenticationError?.localizedDescription ?? "unknown"
                }
            }
        } else {
            switch error?.code {
            case LAError.biometryNotEnrolled.rawValue: message = "Enroll a finger first."
            case LAError.Code.biometryLockout.rawValue: message = "Locked."
            case Int(kLAErrorPasscodeNotSet): message = "Set a passcode first."
            default: message = "No biometry."
            }
        }
    }
}

/// The texts of a settings page.
private func title(of type: LABiometryType) -> String {
    switch type {
    case .none: return "Passcode"
    case .touchID: return "Touch ID"
    case .faceID: return "Face ID"
    case .opticID: return "Optic ID"
    @unknown default: return "Biometry"
    }
}

private func text(of error: any Error) -> String {
    guard let error = error as? LAError else { return "other" }
    switch error.code {
    case .authenticationFailed: return "failed"
    case .userCancel, .systemCancel, .appCancel: return "cancelled"
    case .userFallback: return "fallback"
    case .biometryLockout: return "locked"
    default: return "unavailable"
    }
}

/// A double as apps write it for their own tests.
private final class ContextDouble: LAContext, @unchecked Sendable {
    var isAvailable = true
    var outcome: LAError?

    override var biometryType: LABiometryType { .faceID }

    override func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        if !isAvailable { error?.pointee = NSError(domain: LAErrorDomain, code: LAError.biometryNotEnrolled.rawValue) }
        return isAvailable
    }

    override func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        reply(outcome == nil, outcome)
    }
}

/// A double with a closure that is not Sendable, as in older code.
private final class OlderDouble: LAContext, @unchecked Sendable {
    override func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping (Bool, (any Error)?) -> Void
    ) {
        reply(false, LAError(.userFallback))
    }
}

@MainActor private final class Screen {
    private let context = LAContext()
    private(set) var isOpen = false

    func open() async throws {
        isOpen = try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "Open")
    }
}

@Suite("Code written for Apple's platforms")
struct PortedCodeTests {
    @Test("A view model with completion handlers runs unchanged")
    func viewModel() async {
        let keychain = FakeKeychain()
        await keychain.run {
            let model = UnlockModel()
            model.unlock()
            #expect(await eventuallyInTask { model.isUnlocked })
            keychain.change { $0.person = .fails(.userCancel) }
            model.unlock()
            #expect(await eventuallyInTask { !model.message.isEmpty })
            for (biometry, message) in [
                (PresenceStatus.Biometry.notEnrolled, "Enroll a finger first."), (.lockedOut, "Locked."),
                (.notAvailable, "No biometry."),
            ] {
                keychain.change { $0.status.biometry = biometry }
                model.unlock()
                #expect(model.message == message)
            }
        }
    }

    @Test("An asynchronous call throws errors that the usual switch reads")
    func asynchronous() async {
        let keychain = FakeKeychain()
        keychain.change { $0.person = .fails(.userFallback) }
        await keychain.run {
            let context = LAContext()
            context.localizedFallbackTitle = "Use passcode"
            do {
                try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "Unlock your notes")
                Issue.record("the evaluation succeeded")
            } catch {
                #expect(text(of: error) == "fallback")
            }
        }
        #expect(title(of: .touchID) == "Touch ID")
    }

    @Test("A double of an app replaces the evaluation, also of asynchronous calls")
    func doubles() async throws {
        let double = ContextDouble()
        let isSuccess = try await double.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "a test")
        #expect(isSuccess && double.biometryType == .faceID)
        double.outcome = LAError(.userCancel)
        let error = await #expect(throws: LAError.self) {
            try await double.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "a test")
        }
        #expect(error?.code == .userCancel)
        double.isAvailable = false
        let model = UnlockModel()
        model.unlock(with: double)
        #expect(model.message == "Enroll a finger first.")
        let older = await #expect(throws: LAError.self) {
            try await OlderDouble().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "a test")
        }
        #expect(older?.code == .userFallback)
    }

    @Test("A context is used from a main actor's class")
    func mainActor() async throws {
        let screen = Screen()
        try await FakeKeychain().run { try await screen.open() }
        #expect(await screen.isOpen)
    }
}
