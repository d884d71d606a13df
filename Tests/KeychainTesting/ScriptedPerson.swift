// SPDX-License-Identifier: Apache-2.0

import Glibc
public import KeychainModel
public import LatchkeyService
public import LinuxSystem
public import Presence
import SecretMemory
import Synchronization

/// A person who answers prompts and touches a sensor as a test says. Without an answer, a prompt is
/// cancelled.
public final class ScriptedPerson: PresenceMethod, Biometry {
    /// The person's reaction to the next prompt.
    public enum Answer: Sendable {
        case types(String)
        case cancels
        case doesNothing
        case isAway
        /// Called before the answer.
        case after(@Sendable () -> Void, types: String)
        case cancelsAfter(@Sendable () -> Void)
    }

    /// The person's reaction at the sensor.
    public enum Touch: Sendable {
        case matches, misses, cancels
        /// Misses, and touches it again.
        case missesOnce
        /// Does not touch it.
        case waits
    }

    private struct State {
        var answers: [Answer] = []
        var touches: [Touch] = []
        var questions: [PresenceRequest] = []
        var enrolled: EnrolledSet?
        var biometry = PresenceStatus.Biometry.notAvailable
        var securityKeys: (any SecurityKeyAccess)?
        var cancelsTouches = false
        var displaysFinger = false
        var buttons: ArraySlice<PresenceOutcome> = []
    }

    private let state = Mutex(State())

    private let gate: PromptGate?

    /// - Parameter gate: selects the prompts that are displayed; nil for one gate per keychain.
    public init(gate: PromptGate? = nil) { self.gate = gate }

    public static let place = PromptPlace([.terminal: "/dev/pts/1", .terminalType: "xterm"])

    /// Returns the person, sensor and security keys for a backend. A sensor is used only through a daemon.
    public func sources(of backend: Backend) -> PresenceSources {
        PresenceSources(
            methods: PresenceMethods([self], gate: gate ?? PromptGate()),
            biometry: Backend.daemons.contains(backend) ? self : nil,
            securityKeys: state.withLock { $0.securityKeys })
    }

    /// Security keys for the keychains that are opened from now on.
    public func use(_ securityKeys: any SecurityKeyAccess) { state.withLock { $0.securityKeys = securityKeys } }

    // MARK: The script

    /// Whether the person cancels the prompt that a security key waits for a touch.
    public func cancelTouches(_ cancels: Bool) { state.withLock { $0.cancelsTouches = cancels } }

    /// Sets the buttons that the person presses in a prompt while the sensor waits.
    public func will(press buttons: PresenceOutcome...) { state.withLock { $0.buttons += buttons } }

    public func will(_ answers: Answer...) { state.withLock { $0.answers += answers } }
    public func will(touch touches: Touch...) { state.withLock { $0.touches += touches } }

    /// Enrolls fingers: the set of these names.
    public func enroll(_ fingers: String...) {
        let digest = Array(fingers.joined(separator: ",").utf8).prefix(EnrolledSet.digestLength)
        let padded = digest + [UInt8](repeating: 0, count: EnrolledSet.digestLength - digest.count)
        state.withLock { state in
            state.enrolled = fingers.isEmpty ? nil : EnrolledSet(digest: Array(padded))
            state.biometry = fingers.isEmpty ? .notEnrolled : .available
        }
    }

    public func setBiometry(_ biometry: PresenceStatus.Biometry) { state.withLock { $0.biometry = biometry } }

    /// Every question since the last call.
    public func takeQuestions() -> [PresenceRequest] {
        state.withLock { state in
            let questions = state.questions
            state.questions = []
            return questions
        }
    }

    /// Every question since ``takeQuestions()``.
    public var questions: [PresenceRequest] { state.withLock { $0.questions } }

    /// The answers that were not needed.
    public var unusedAnswers: Int { state.withLock { $0.answers.count + $0.touches.count } }

    // MARK: PresenceMethod

    public let name = "scripted"
    public let factors: Set<PresenceFactor> = [
        .passcode, .applicationPassword, .newApplicationPassword, .confirmation, .fingerprint, .securityKey,
        .securityKeyPIN,
    ]

    public func unavailability(for user: UInt32, at place: PromptPlace) -> PresenceUnavailability? {
        place == .none ? .noPlace(ignored: []) : nil
    }

    public func ask(_ request: PresenceRequest, until deadline: UInt64, cancellation: Cancellation) -> PresenceOutcome {
        if request.factor == .securityKey { return displayTouch(request, cancellation) }
        if request.factor == .fingerprint { return displayFinger(request, cancellation) }
        let answer = state.withLock { state -> Answer in
            state.questions.append(request)
            return state.answers.isEmpty ? .cancels : state.answers.removeFirst()
        }
        switch answer {
        case .types(let text): return .confirmed(SharedSecret(copying: Array(text.utf8)))
        case .cancels: return .cancelled
        case .doesNothing: return .timedOut
        case .isAway: return .unavailable(.noPlace(ignored: []))
        case .after(let act, let text):
            act()
            return .confirmed(SharedSecret(copying: Array(text.utf8)))
        case .cancelsAfter(let act):
            act()
            return .cancelled
        }
    }

    /// Displays that a security key waits, until it has been touched.
    private func displayTouch(_ request: PresenceRequest, _ cancellation: Cancellation) -> PresenceOutcome {
        let cancels = state.withLock { state in
            state.questions.append(request)
            return state.cancelsTouches
        }
        _ = eventually { cancels || cancellation.isCancelled }
        return .cancelled
    }

    /// Displays that the sensor waits, until it has been touched, or the person presses a button.
    private func displayFinger(_ request: PresenceRequest, _ cancellation: Cancellation) -> PresenceOutcome {
        state.withLock { state in
            state.questions.append(request)
            state.displaysFinger = true
        }
        defer { state.withLock { $0.displaysFinger = false } }
        while !cancellation.isCancelled {
            if let button = state.withLock({ $0.buttons.popFirst() }) { return button }
            usleep(1000)
        }
        return .cancelled
    }

    // MARK: Biometry

    public func state(of user: UInt32) -> PresenceStatus.Biometry { state.withLock { $0.biometry } }

    public func enrolledSet(of user: UInt32) throws(KeychainError) -> EnrolledSet? { state.withLock { $0.enrolled } }

    public func recognize(
        _ user: UInt32, until deadline: UInt64, cancellation: Cancellation, onMiss: () -> Void
    ) -> PresenceOutcome {
        // A person touches the sensor only when the prompt is there.
        _ = eventually { state.withLock { $0.displaysFinger } || cancellation.isCancelled }
        let (touch, set) = state.withLock { state -> (Touch, EnrolledSet?) in
            (state.touches.isEmpty ? .cancels : state.touches.removeFirst(), state.enrolled)
        }
        switch touch {
        case .missesOnce:
            onMiss()
            // The miss is shown before the person touches the sensor again.
            while state.withLock({ $0.questions.last?.previousFailure != .notRecognized }), !cancellation.isCancelled {
                usleep(1000)
            }
            return recognize(user, until: deadline, cancellation: cancellation, onMiss: onMiss)
        case .matches: return set.map { .recognized(BiometricMatch(recognizedAgainst: $0)) } ?? .denied
        case .misses: return .denied
        case .cancels: return .cancelled
        case .waits:
            _ = eventually { cancellation.isCancelled }
            return .cancelled
        }
    }

    public func passcodeWasVerified(of user: UInt32) {
        state.withLock { state in if state.biometry == .lockedOut { state.biometry = .available } }
    }
}
