// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainModel
import LatchkeyService
import LinuxSystem
import Presence
import SecretMemory
import Synchronization

/// A person, a sensor and security keys that answer as bytes say, at once. After the last byte, the
/// person cancels, and devices fail.
final class FuzzPerson: PresenceMethod, Biometry, SecurityKeyAccess {
    private let script = Mutex<[UInt8]>([])
    private let secrets: [SharedSecret]

    /// - Parameter secrets: the passcodes, passwords and PINs that the person knows.
    init(secrets: [SharedSecret]) { self.secrets = secrets }

    /// Sets the answers to all questions from now on.
    func set(_ bytes: [UInt8]) { script.withLock { $0 = bytes } }

    private func next() -> UInt8? { script.withLock { $0.isEmpty ? nil : $0.removeFirst() } }

    var sources: PresenceSources {
        // The person is asked as often as the bytes want.
        let gate = PromptGate(limits: PromptLimits(cancellationWindow: 0))
        return PresenceSources(methods: PresenceMethods([self], gate: gate), biometry: self, securityKeys: self)
    }

    // MARK: PresenceMethod

    let name = "bytes"
    let factors = Set(PresenceFactor.allCases)

    func unavailability(for user: UInt32, at place: PromptPlace) -> PresenceUnavailability? {
        place == .none ? .noPlace(ignored: []) : nil
    }

    func ask(_ request: PresenceRequest, until deadline: UInt64, cancellation: Cancellation) -> PresenceOutcome {
        // The prompt during the wait for a sensor or a key is on another thread. It must not take the bytes of the
        // device in an order of its own.
        guard request.factor != .securityKey, request.factor != .fingerprint else {
            while !cancellation.isCancelled { usleep(100) }
            return .cancelled
        }
        guard let choice = next() else { return .cancelled }
        return switch choice % 16 {
        case 0: .cancelled
        case 1: .denied
        case 2: .timedOut
        case 3: .confirmed(nil)
        case 4: .unavailable(.noPlace(ignored: []))
        case 5: .confirmed(SharedSecret(copying: [UInt8](repeating: choice, count: 4096)))
        default: .confirmed(secrets[Int(choice) % secrets.count])
        }
    }

    // MARK: Biometry

    func state(of user: UInt32) -> PresenceStatus.Biometry {
        guard let choice = next() else { return .available }
        return PresenceStatus.Biometry(rawValue: choice % 8) ?? .available
    }

    func enrolledSet(of user: UInt32) throws(KeychainError) -> EnrolledSet? {
        guard let choice = next() else { return Self.set(0) }
        if choice % 8 == 0 { throw .authentication(.biometryNotAvailable, "the bytes say so") }
        return choice % 8 == 1 ? nil : Self.set(choice % 2)
    }

    func recognize(
        _ user: UInt32, until deadline: UInt64, cancellation: Cancellation, onMiss: () -> Void
    ) -> PresenceOutcome {
        let choice = next() ?? 0
        if choice % 32 > 24 { onMiss() }
        return switch choice % 8 {
        case 0: .denied
        case 1: .fallback
        case 2: .timedOut
        case 3: .unavailable(.biometryLocked)
        default: Self.set(choice % 2).map { .recognized(BiometricMatch(recognizedAgainst: $0)) } ?? .cancelled
        }
    }

    func passcodeWasVerified(of user: UInt32) {}

    private static func set(_ number: UInt8) -> EnrolledSet? {
        EnrolledSet(digest: [UInt8](repeating: number, count: EnrolledSet.digestLength))
    }

    // MARK: Security keys

    func devices() throws(KeychainError) -> [any SecurityKeyDevice] {
        let choice = next() ?? 0
        if choice % 8 == 7 { throw KeychainError(.notAvailable, "the bytes say so") }
        return (0..<choice % 4).map { FuzzSecurityKey(number: $0 + choice / 64, next: next) }
    }
}

/// A security key that answers as bytes say, and is itself as long as they let it.
private struct FuzzSecurityKey: SecurityKeyDevice {
    let number: UInt8
    let next: @Sendable () -> UInt8?

    private func choice() throws(KeychainError) -> UInt8 {
        guard let choice = next() else { throw .authentication(.notInteractive, "no device") }
        if choice % 16 == 15 { throw .authentication(.systemCancel, "no touch") }
        return choice
    }

    func requiresPIN() throws(KeychainError) -> Bool { try choice() % 4 == 1 }

    func match(_ credential: [UInt8]) throws(KeychainError) -> SecurityKeyMatch {
        switch try choice() % 8 {
        case 0: .other
        case 1: .unproven
        case 2: .own(requiresPIN: true)
        default: credential.first == number ? .own(requiresPIN: false) : .other
        }
    }

    func createCredential(
        pin: SharedSecret?, until deadline: UInt64, isCancelled: @escaping @Sendable () -> Bool
    ) throws(KeychainError) -> SecurityKeyAnswer<NewSecurityKeyCredential> {
        let choice = try choice()
        guard choice % 8 > 0 else { return .wrongPIN(attemptsLeft: choice % 16 == 0 ? nil : Int(choice) - 64) }
        let length = choice % 8 == 1 ? Int(choice) * 64 : 1 + Int(choice / 64)
        return .success(
            NewSecurityKeyCredential(
                credential: [UInt8](repeating: number, count: length), alwaysVerifies: choice % 8 == 2,
                requiresPIN: pin != nil))
    }

    func deriveSecret(
        from credential: [UInt8], pin: SharedSecret?, until deadline: UInt64,
        isCancelled: @escaping @Sendable () -> Bool
    ) throws(KeychainError) -> SecurityKeyAnswer<SharedSecret> {
        let choice = try choice()
        guard choice % 8 > 0 else { return .wrongPIN(attemptsLeft: choice % 16 == 0 ? nil : Int(choice) - 64) }
        // A device with a changed secret, or with a secret of another length, is not the enrolled device.
        let value = choice % 8 == 1 ? choice : number
        return .success(SharedSecret(copying: [UInt8](repeating: value, count: choice % 8 == 2 ? 31 : 32)))
    }
}
