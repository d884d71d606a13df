// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAuthentication
import Testing
import UnlockScreen

/// The app's double of the context: it displays nothing.
private final class ContextDouble: LAContext, @unchecked Sendable {
    var outcome: LAError?
    var availability: LAError.Code?
    private(set) var isInvalidated = false

    override var biometryType: LABiometryType { .touchID }

    override func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        if let availability { error?.pointee = NSError(domain: LAErrorDomain, code: availability.rawValue) }
        return availability == nil
    }

    override func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        reply(outcome == nil, outcome)
    }

    override func invalidate() { isInvalidated = true }
}

/// Whether this process has a keychain of its own, in memory. It must be read before the first call
/// of the keychain.
private let hasOwnKeychain = setenv("LATCHKEY_EPHEMERAL", "1", 1) == 0

@Suite("The unlock screen, with a double of the context")
@MainActor
struct UnlockModelTests {
    private let context = ContextDouble()

    init() throws {
        try #require(hasOwnKeychain)
    }

    private func model() -> UnlockModel {
        let context = context
        return UnlockModel(store: DiaryStore(service: UUID().uuidString)) { context }
    }

    @Test("The button names the sensor")
    func title() {
        let model = model()
        model.appear()
        #expect(model.title == "Unlock with Touch ID" && model.message == nil)
    }

    @Test("A missing passcode is shown when the screen appears")
    func unavailable() {
        context.availability = .passcodeNotSet
        let model = model()
        model.appear()
        #expect(model.message != nil)
    }

    @Test("A cancelled prompt leaves the screen locked, without a message")
    func cancellation() async {
        context.outcome = LAError(.userCancel)
        let model = model()
        await model.unlock()
        #expect(model.state == .locked && model.message == nil && context.isInvalidated)
    }

    @Test("A failure is shown")
    func failure() async {
        context.outcome = LAError(.biometryLockout)
        let model = model()
        await model.unlock()
        #expect(model.state == .locked && model.message == "Touch ID is locked. Enter your passcode.")
    }

    @Test("Without an item, the diary is empty")
    func empty() async {
        let model = model()
        await model.unlock()
        #expect(model.state == .locked && model.message == "The diary is empty.")
    }
}
