// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAuthentication
import Observation
import Security

/// The screen that hides the diary until its owner authenticates.
@MainActor
@Observable
public final class UnlockModel {
    public enum State: Equatable {
        case locked
        case unlocking
        case unlocked(text: String)
    }

    public private(set) var state = State.locked
    /// The error message for the person; nil for none.
    public private(set) var message: String?
    /// The title of the button.
    public private(set) var title = "Unlock"

    @ObservationIgnored private let store: DiaryStore
    @ObservationIgnored private let makeContext: () -> LAContext
    @ObservationIgnored private var context: LAContext?

    public init(store: DiaryStore = DiaryStore(), makeContext: @escaping () -> LAContext = { LAContext() }) {
        self.store = store
        self.makeContext = makeContext
    }

    /// Prepares the screen when it appears.
    public func appear() {
        let context = makeContext()
        var error: NSError?
        if !context.canEvaluatePolicy(.deviceOwnerAuthentication, error: &error) {
            message = error?.localizedDescription
        }
        switch context.biometryType {
        case .touchID: title = "Unlock with Touch ID"
        case .faceID: title = "Unlock with Face ID"
        default: title = "Unlock with Passcode"
        }
    }

    /// Asks the owner, and shows the diary.
    public func unlock() async {
        guard state == .locked else { return }
        state = .unlocking
        message = nil
        let context = makeContext()
        context.localizedCancelTitle = "Not now"
        self.context = context
        do {
            try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "Open your diary")
            state = .unlocked(text: try store.read(with: context))
        } catch {
            context.invalidate()
            state = .locked
            message = text(for: error)
        }
    }

    /// Hides the diary, as when the app enters the background. A prompt that is displayed ends.
    public func lock() {
        context?.invalidate()
        context = nil
        state = .locked
    }

    private func text(for error: Error) -> String? {
        switch error {
        case LAError.userCancel, LAError.appCancel, LAError.systemCancel:
            return nil
        case LAError.biometryLockout:
            return "Touch ID is locked. Enter your passcode."
        case let error as LAError:
            return error.localizedDescription
        case let failure as DiaryStore.Failure where failure.status == errSecItemNotFound:
            return "The diary is empty."
        case let failure as DiaryStore.Failure:
            return SecCopyErrorMessageString(failure.status, nil) as String? ?? "Error \(failure.status)"
        default:
            return error.localizedDescription
        }
    }
}
