// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
internal import LinuxSystem
public import Presence

/// Asks with pinentry, which fits the display or the terminal of this process.
public struct PinentryAsker: Sendable {
    private let methods: PresenceMethods
    private let place: @Sendable () -> PromptPlace

    /// - Parameter place: where the person can be asked; nil for the place of this process.
    public init(_ methods: PresenceMethods = PresenceMethods(), at place: (@Sendable () -> PromptPlace)? = nil) {
        self.methods = methods
        self.place = place ?? { PromptPlace.ofThisProcess() }
    }

    func ask(_ question: SecretQuestion, cancellation: Cancellation) -> SecretAnswer {
        guard question.kind == .passcode else {
            return .unavailable(
                reason: "pinentry is not used for a new passcode", hint: "latchkey passcode change")
        }
        let request = PresenceRequest(
            .passcode, user: geteuid(), program: question.program, subject: .keychain, place: place(),
            previousFailure: question.attemptsLeft.map {
                PresenceRequest.PreviousFailure.wrongSecret(attemptsLeft: $0)
            })
        let deadline = BootClock.system.now() &+ Self.timeout
        return switch methods.ask(request, until: deadline, cancellation: cancellation) {
        case .confirmed(let secret?): .typed(secret)
        case .timedOut: .timedOut
        case .unavailable(let reason): .unavailable(reason: reason.problem, hint: "latchkey unlock")
        case .confirmed, .recognized, .fallback, .denied, .cancelled: .cancelled
        }
    }

    /// Ten minutes, in nanoseconds: clients wait for a prompt as long as it takes.
    private static let timeout: UInt64 = 600_000_000_000
}
