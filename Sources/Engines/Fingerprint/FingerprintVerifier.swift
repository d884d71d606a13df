// SPDX-License-Identifier: Apache-2.0

public import EnrolledPrints
public import KeychainModel
public import LinuxSystem

/// Verifies fingers of a person by fprintd. latchkeyd uses it; it displays nothing.
///
/// Its result is a proof for one evaluation, and not a flag. Five fingers in sequence that are not
/// enrolled lock it until the passcode has been verified (``BiometryLockout``).
public struct FingerprintVerifier: Sendable {
    private let reader: FingerprintReader
    private let sets: CurrentSetReader
    private let lockout: BiometryLockout

    /// - Parameter lockout: the misses of this process. The verification of a passcode resets them.
    public init(
        reader: FingerprintReader = FingerprintReader(), prints: StoredPrints = StoredPrints(),
        lockout: BiometryLockout
    ) {
        self.reader = reader
        sets = CurrentSetReader(prints: prints, names: FingerNames(reader: reader))
        self.lockout = lockout
    }

    /// Returns whether a finger of the user can be verified now. It starts fprintd, but neither
    /// claims nor uses the reader.
    public func availability(for user: UInt32) -> FingerprintAvailability {
        do throws(FingerprintError) {
            _ = try reader.enrolledFingers(of: user)
            let current = try currentSet(of: user)
            guard !lockout.isLocked(user) else { throw .lockedOut }
            return .available(current.source)
        } catch {
            return .unavailable(error)
        }
    }

    /// Returns the user's enrolled set. An item can be bound to it without asking the person.
    ///
    /// - Throws: ``FingerprintError/notEnrolled`` if no finger is enrolled,
    ///   ``FingerprintError/unknownSet(_:)`` if the set cannot be read.
    public func currentSet(of user: UInt32) throws(FingerprintError) -> EnrolledSet {
        try sets.currentSet(of: user)
    }

    /// Reads fingers until one matches, at most three.
    ///
    /// The enrolled set is the one that was read while this process had claimed the reader: fprintd
    /// enrolls fingers only for the program that has claimed it, so no other program can have
    /// changed the set since the match.
    ///
    /// - Parameters:
    ///   - deadline: by `BootClock.system`, in nanoseconds. The function returns at most a few
    ///     seconds later.
    ///   - onEvent: called on this thread with the events that the person should know about.
    /// - Throws: ``FingerprintError/notRecognized`` after three misses,
    ///   ``FingerprintError/lockedOut`` after the fifth in sequence and from then on,
    ///   ``FingerprintError/cancelled``, ``FingerprintError/timedOut``, and why the reader cannot
    ///   be used. It throws at once if no reader is connected or no finger is enrolled.
    public func verify(
        _ user: UInt32, until deadline: UInt64, cancellation: Cancellation,
        onEvent: (FingerprintEvent) -> Void = { _ in }
    ) throws(FingerprintError) -> BiometricMatch {
        guard !lockout.isLocked(user) else { throw .lockedOut }
        // Before the person is asked, so that no finger is shown in vain.
        let expected = try currentSet(of: user)
        let set = try reader.withVerification(of: user, until: deadline, cancellation: cancellation) {
            session throws(FingerprintError) in
            try recognize(user, session, onEvent)
            return try currentSet(of: user)
        }
        guard set == expected else { throw .failed("the enrolled fingers changed during the verification") }
        return BiometricMatch(recognizedAgainst: set)
    }

    /// Returns when a finger has matched.
    private func recognize(
        _ user: UInt32, _ session: VerificationSession, _ onEvent: (FingerprintEvent) -> Void
    ) throws(FingerprintError) {
        for _ in 0..<Self.maxMisses {
            switch try session.scan(onEvent) {
            case .match:
                guard lockout.recordMatch(user) else { throw .lockedOut }
                return
            case .noMatch:
                // Counted as it happens: a reader that fails afterwards does not undo it.
                guard !lockout.recordMiss(user) else { throw .lockedOut }
                onEvent(.miss)
            case .cancelled: throw .cancelled
            case .timedOut: throw .timedOut
            }
        }
        throw .notRecognized
    }

    /// The misses of one verification.
    private static let maxMisses = 3
}
