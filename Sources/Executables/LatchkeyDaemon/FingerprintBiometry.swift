// SPDX-License-Identifier: Apache-2.0

internal import Fingerprint
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem
internal import Presence

/// Recognizes the person by a finger, with fprintd.
struct FingerprintBiometry: Biometry {
    private let lockout: BiometryLockout
    private let verifier: FingerprintVerifier

    init() {
        lockout = BiometryLockout()
        verifier = FingerprintVerifier(lockout: lockout)
    }

    func state(of user: UInt32) -> PresenceStatus.Biometry {
        switch verifier.availability(for: user) {
        case .available: .available
        case .unavailable(.notEnrolled): .notEnrolled
        case .unavailable(.lockedOut): .lockedOut
        case .unavailable: .notAvailable
        }
    }

    func enrolledSet(of user: UInt32) throws(KeychainError) -> EnrolledSet? {
        do throws(FingerprintError) {
            return try verifier.currentSet(of: user)
        } catch .notEnrolled {
            return nil
        } catch {
            throw Self.failure(error)
        }
    }

    func recognize(
        _ user: UInt32, until deadline: UInt64, cancellation: Cancellation, onMiss: () -> Void
    ) -> PresenceOutcome {
        do throws(FingerprintError) {
            let match = try verifier.verify(user, until: deadline, cancellation: cancellation) { event in
                if event == .miss { onMiss() }
            }
            return .recognized(match)
        } catch {
            return error.outcome
        }
    }

    func passcodeWasVerified(of user: UInt32) { lockout.recordPasscode(user) }

    private static func failure(_ error: FingerprintError) -> KeychainError {
        let failure: AuthenticationFailure =
            switch error {
            case .notEnrolled: .biometryNotEnrolled
            case .lockedOut: .biometryLockout
            case .notRecognized: .failed
            case .cancelled: .appCancel
            case .timedOut: .systemCancel
            default: .biometryNotAvailable
            }
        return .authentication(failure, error.description, hint: error.hint)
    }
}
