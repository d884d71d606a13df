// SPDX-License-Identifier: Apache-2.0

import EnrolledPrints
import Fingerprint
import Glibc
import KeychainModel
import KeychainTesting
import LinuxSystem
import Synchronization
import SystemBus

/// The result of a verification: the set of a match, or the failure.
enum Outcome: Hashable, Sendable {
    case match(EnrolledSet)
    case failure(FingerprintError)

    var isMatch: Bool { if case .match = self { true } else { false } }

    /// Whether the reader or fprintd failed.
    var isReaderFailure: Bool {
        switch self {
        case .failure(.failed), .failure(.disconnected): true
        default: false
        }
    }
}

/// A verification that runs on its own thread.
final class BackgroundVerification: Sendable {
    let cancellation = Cancellation()
    let events = Collected<FingerprintEvent>()
    private let outcomes = Collected<Outcome>()

    /// - Parameter seconds: the time until the deadline.
    init(_ verifier: FingerprintVerifier, seconds: UInt64 = 600) {
        BackgroundThread.run { [outcomes, events, cancellation] in
            outcomes.append(verifier.outcome(seconds: seconds, cancellation: cancellation) { events.append($0) })
        }
    }

    /// Waits for the result; nil if none comes.
    func outcome() -> Outcome? {
        _ = eventually { !outcomes.all.isEmpty }
        return outcomes.all.first
    }
}

extension FingerprintVerifier {
    /// Verifies a finger of the tests' user.
    ///
    /// - Parameter seconds: the time until the deadline.
    func outcome(
        seconds: UInt64 = 600, cancellation: Cancellation = Cancellation(),
        onEvent: (FingerprintEvent) -> Void = { _ in }
    ) -> Outcome {
        let deadline = BootClock.system.now() + seconds * 1_000_000_000
        do throws(FingerprintError) {
            let match = try verify(geteuid(), until: deadline, cancellation: cancellation, onEvent: onEvent)
            return .match(match.enrolledSet)
        } catch {
            return .failure(error)
        }
    }

    /// A verifier without latchkey-biometry-digest.
    ///
    /// - Parameter timeout: of each call to fprintd.
    init(on bus: PrivateBus, lockout: BiometryLockout = BiometryLockout(), timeout: Duration = .seconds(60)) {
        self.init(
            reader: FingerprintReader(on: bus, timeout: timeout), prints: StoredPrints(socket: "/nonexistent/socket"),
            lockout: lockout)
    }
}

extension FingerprintReader {
    /// Creates a reader on a private bus with a fprintd of the tests' user.
    init(on bus: PrivateBus, timeout: Duration = .seconds(60)) {
        self.init(address: .custom(bus.address), trustedUser: geteuid(), timeout: timeout)
    }
}
