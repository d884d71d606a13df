// SPDX-License-Identifier: Apache-2.0

import EnrolledPrints
import Fingerprint
import Glibc
import KeychainModel
import KeychainTesting
import LinuxSystem
import SystemBus
import Testing

@Suite("Fingerprints with fprintd", .enabled(if: Fprintd.isInstalled, "fprintd or dbus-daemon is not installed"))
struct FingerprintVerifierTests {
    private static let user = geteuid()

    @Test("An enrolled finger matches, another one is read again, and the reader is released afterwards")
    func matches() throws {
        let fprintd = try Fprintd()
        try fprintd.enroll("right-index-finger", print: "finger-A")
        let lockout = BiometryLockout()
        let verifier = fprintd.verifier(lockout)
        #expect(verifier.availability(for: Self.user) == .available(.fingerNames))
        let verification = BackgroundVerification(verifier)
        try fprintd.send("SCAN finger-B")
        #expect(eventually { verification.events.all == [.waiting, .miss, .waiting] }, "\(verification.events.all)")
        #expect(lockout.misses(of: Self.user).count == 1)
        try fprintd.send("SCAN finger-A")
        let set = try EnrolledSet(fingerNames: ["right-index-finger"])
        #expect(verification.outcome() == .match(set), "\(fprintd.log)")
        #expect(lockout.misses(of: Self.user).count == 0)
        #expect(try eventually { try fprintd.isReleased() })
    }

    @Test("A scan that cannot be used is reported, does not count, and the next one is read")
    func retries() throws {
        let fprintd = try Fprintd()
        try fprintd.enroll("right-index-finger", print: "finger-A")
        let lockout = BiometryLockout()
        let verification = BackgroundVerification(fprintd.verifier(lockout))
        for (number, problem) in ScanProblem.allCases.enumerated() {
            try fprintd.send("RETRY \(number)")
            #expect(eventually { verification.events.all.contains(.problem(problem)) }, "\(fprintd.log)")
        }
        #expect(lockout.misses(of: Self.user).count == 0)
        try fprintd.send("SCAN finger-A")
        #expect(verification.outcome()?.isMatch == true, "\(fprintd.log)")
    }

    @Test("Three misses end a verification; the fifth in sequence locks until the passcode was verified")
    func misses() throws {
        let fprintd = try Fprintd()
        try fprintd.enroll("right-index-finger", print: "finger-A")
        let lockout = BiometryLockout()
        let verifier = fprintd.verifier(lockout)
        let outcomes = try [3, 2].map { count in
            let verification = BackgroundVerification(verifier)
            for _ in 0..<count { try fprintd.send("SCAN finger-B") }
            return verification.outcome()
        }
        #expect(outcomes == [.failure(.notRecognized), .failure(.lockedOut)], "\(fprintd.log)")
        #expect(verifier.availability(for: Self.user) == .unavailable(.lockedOut))
        #expect(verifier.availability(for: Self.user).hasReader)
        #expect(verifier.outcome() == .failure(.lockedOut))
        lockout.recordPasscode(Self.user)
        let verification = BackgroundVerification(verifier)
        try fprintd.send("SCAN finger-A")
        #expect(verification.outcome()?.isMatch == true, "\(fprintd.log)")
    }

    @Test(
        "A reader that fails or is unplugged ends the verification with the reason, and counts no miss",
        arguments: [
            "ERROR 0", "UNPLUG",
        ])
    func failures(_ command: String) throws {
        let fprintd = try Fprintd()
        try fprintd.enroll("right-index-finger", print: "finger-A")
        let lockout = BiometryLockout()
        let verification = BackgroundVerification(fprintd.verifier(lockout))
        try fprintd.send(command)
        let outcome = verification.outcome()
        #expect(outcome?.isReaderFailure == true, "\(String(describing: outcome)) \(fprintd.log)")
        #expect(lockout.misses(of: Self.user).count == 0)
    }

    @Test("A service that ends while the reader waits ends the verification")
    func ends() throws {
        let fprintd = try Fprintd()
        try fprintd.enroll("right-index-finger", print: "finger-A")
        let verification = BackgroundVerification(fprintd.verifier())
        #expect(eventually { verification.events.all == [.waiting] })
        fprintd.stop()
        #expect(verification.outcome() == .failure(.disconnected))
    }

    @Test(
        "A cancelled verification and a passed deadline release the reader, and count no miss",
        arguments: [true, false])
    func cancellation(_ isCancelled: Bool) throws {
        let fprintd = try Fprintd()
        try fprintd.enroll("right-index-finger", print: "finger-A")
        let lockout = BiometryLockout()
        let verification = BackgroundVerification(fprintd.verifier(lockout), seconds: isCancelled ? 600 : 0)
        if isCancelled {
            #expect(eventually { verification.events.all == [.waiting] })
            verification.cancellation.request()
        }
        #expect(verification.outcome() == .failure(isCancelled ? .cancelled : .timedOut), "\(fprintd.log)")
        #expect(lockout.misses(of: Self.user).count == 0)
        #expect(try eventually { try fprintd.isReleased() })
    }

    @Test("Without an enrolled finger, and while another program uses the reader, the reason is named")
    func unavailable() throws {
        let fprintd = try Fprintd()
        let verifier = fprintd.verifier()
        #expect(verifier.availability(for: Self.user) == .unavailable(.notEnrolled))
        #expect(verifier.availability(for: Self.user).hasReader)
        #expect(verifier.outcome() == .failure(.notEnrolled))
        try fprintd.enroll("right-index-finger", print: "finger-A")
        #expect(try fprintd.reader.enrolledFingers(of: Self.user) == ["right-index-finger"])
        try fprintd.claim()
        #expect(verifier.outcome() == .failure(.readerInUse))
    }

    @Test("A match proves the set of the stored prints; an added and a replaced finger change it")
    func storedPrints() throws {
        let fprintd = try Fprintd()
        let helper = try DigestHelper(storage: fprintd.storage)
        let verifier = FingerprintVerifier(reader: fprintd.reader, prints: helper.prints, lockout: BiometryLockout())
        #expect(throws: FingerprintError.notEnrolled) { try verifier.currentSet(of: Self.user) }
        try fprintd.enroll("right-index-finger", print: "finger-A")
        let first = try verifier.currentSet(of: Self.user)
        #expect(first.source == .storedPrints)
        #expect(try verifier.currentSet(of: Self.user) == first)
        let verification = BackgroundVerification(verifier)
        try fprintd.send("SCAN finger-A")
        #expect(verification.outcome() == .match(first), "\(fprintd.log)")
        try fprintd.enroll("left-index-finger", print: "finger-B")
        let second = try verifier.currentSet(of: Self.user)
        try fprintd.delete("left-index-finger")
        #expect(try verifier.currentSet(of: Self.user) == first)
        try fprintd.enroll("left-index-finger", print: "finger-C")
        let third = try verifier.currentSet(of: Self.user)
        #expect(Set([first, second, third]).count == 3)
        withExtendedLifetime(helper) {}
    }

    @Test("Without the helper, the names of the fingers are the set, and a replaced finger is not noticed")
    func fingerNames() throws {
        let fprintd = try Fprintd()
        let verifier = fprintd.verifier()
        try fprintd.enroll("right-index-finger", print: "finger-A")
        let first = try verifier.currentSet(of: Self.user)
        try fprintd.enroll("left-index-finger", print: "finger-B")
        let second = try verifier.currentSet(of: Self.user)
        try fprintd.delete("left-index-finger")
        try fprintd.enroll("left-index-finger", print: "finger-C")
        #expect(first != second)
        #expect(try verifier.currentSet(of: Self.user) == second)
        #expect(second.source == .fingerNames)
        let helper = try DigestHelper(storage: fprintd.storage)
        let prints = try #require(try helper.prints.enrolledSet(of: Self.user))
        #expect(![first, second].contains(prints))
        withExtendedLifetime(helper) {}
    }

    @Test("Fingers that change during a verification give no match")
    func changed() throws {
        let fprintd = try Fprintd()
        let helper = try DigestHelper(storage: fprintd.storage)
        try fprintd.enroll("right-index-finger", print: "finger-A")
        let verifier = FingerprintVerifier(reader: fprintd.reader, prints: helper.prints, lockout: BiometryLockout())
        let verification = BackgroundVerification(verifier)
        #expect(eventually { verification.events.all == [.waiting] })
        try fprintd.replaceStoredPrint()
        try fprintd.send("SCAN finger-A")
        let outcome = verification.outcome()
        guard case .failure(.failed)? = outcome else {
            Issue.record("\(String(describing: outcome))")
            return
        }
        withExtendedLifetime(helper) {}
    }

    @Test("A helper that is installed and does not answer is not replaced by the names of the fingers")
    func brokenHelper() throws {
        let fprintd = try Fprintd()
        try fprintd.enroll("right-index-finger", print: "finger-A")
        let directory = try TemporaryDirectory()
        let socket = "\(directory.path)/socket"
        // The socket of a stopped socket unit.
        _ = try Socket(listeningAt: socket, permissions: 0o600)
        let verifier = FingerprintVerifier(
            reader: fprintd.reader, prints: StoredPrints(socket: socket), lockout: BiometryLockout())
        guard case .unavailable(.unknownSet(.noHelper)) = verifier.availability(for: Self.user) else {
            Issue.record("\(verifier.availability(for: Self.user))")
            return
        }
        #expect(verifier.outcome() != .failure(.notEnrolled))
        #expect(throws: FingerprintError.self) { try verifier.currentSet(of: Self.user) }
    }

    @Test("A bus of another user than the trusted one is not used")
    func untrusted() throws {
        let fprintd = try Fprintd()
        let reader = FingerprintReader(address: .custom(fprintd.bus.address), trustedUser: geteuid() &+ 1)
        #expect(throws: FingerprintError.untrustedBus(user: geteuid())) {
            try reader.enrolledFingers(of: Self.user)
        }
    }
}
