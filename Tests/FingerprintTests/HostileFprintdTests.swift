// SPDX-License-Identifier: Apache-2.0

@testable import Fingerprint
import Glibc
import KeychainTesting
import LinuxSystem
import SystemBus
import Testing

@Suite("Hostile fprintd", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"))
struct HostileFprintdTests {
    private static let user = geteuid()

    @Test("A service that runs as another user than the trusted one is not used")
    func untrusted() throws {
        let fprintd = try HostileFprintd { _, _ in false }
        let client = try BusConnection(to: .custom(fprintd.bus.address))
        #expect(throws: FingerprintError.untrustedService(user: Self.user)) {
            try FingerprintService(client, trustedUser: Self.user &+ 1, timeout: .seconds(60))
        }
    }

    @Test("Answers of another type are an error", arguments: ["GetDefaultDevice", "ListEnrolledFingers", "Claim"])
    func types(_ member: String) throws {
        let fprintd = try HostileFprintd { call, _ in
            guard call.member == member else { return false }
            call.answer([.uint32(1)])
            return true
        }
        #expect(throws: FingerprintError.self) {
            guard member == "Claim" else { return _ = try fprintd.reader.enrolledFingers(of: Self.user) }
            _ = try fprintd.verifier().verify(Self.user, until: .max, cancellation: Cancellation())
        }
    }

    @Test("No finger, and more names of fingers than a message may have, are errors", arguments: [0, 100_000])
    func fingers(_ count: Int) throws {
        let fprintd = try HostileFprintd { call, _ in
            guard call.member == "ListEnrolledFingers" else { return false }
            call.answer([[String](repeating: "x", count: count).busValue])
            return true
        }
        #expect(throws: FingerprintError.self) { try fprintd.reader.enrolledFingers(of: Self.user) }
    }

    @Test("A match that another program sends, before or during the verification, is not a match")
    func foreign() throws {
        let sender = Collected<BusConnection>()
        let fprintd = try HostileFprintd { call, connection in
            guard call.member == "VerifyStart" else { return false }
            call.answer()
            // Broadcast, and to the reader's connection alone.
            guard let other = sender.all.first else { return true }
            HostileFprintd.emit("verify-match", isDone: true, from: other)
            HostileFprintd.emit("verify-match", isDone: true, from: other, to: call.sender)
            // The bus has received the matches when it answers.
            _ = try? other.owner(of: call.sender)
            HostileFprintd.emit("verify-no-match", isDone: true, from: connection)
            return true
        }
        sender.append(try BusConnection(to: .custom(fprintd.bus.address)))
        #expect(fprintd.verifier().outcome() == .failure(.notRecognized))
        #expect(eventually { fprintd.calls.all.suffix(3) == ["VerifyStart", "VerifyStop", "Release"] })
    }

    @Test("A match that was sent before the reader was claimed, for an earlier user, is not a match")
    func early() throws {
        let fprintd = try HostileFprintd { call, connection in
            switch call.member {
            case "Claim": HostileFprintd.emit("verify-match", isDone: true, from: connection)
            case "VerifyStart": HostileFprintd.emit("verify-no-match", isDone: true, from: connection)
            default: break
            }
            return false
        }
        #expect(fprintd.verifier().outcome() == .failure(.notRecognized))
    }

    @Test("Misses without end lock; each verification reads at most three fingers")
    func endlessMisses() throws {
        let fprintd = try HostileFprintd { call, connection in
            if call.member == "VerifyStart" {
                for _ in 0..<20 { HostileFprintd.emit("verify-no-match", isDone: true, from: connection) }
            }
            return false
        }
        let lockout = BiometryLockout()
        let verifier = fprintd.verifier(lockout)
        #expect(verifier.outcome() == .failure(.notRecognized))
        #expect(lockout.misses(of: Self.user).count == 3)
        #expect(verifier.outcome() == .failure(.lockedOut))
        #expect(verifier.outcome() == .failure(.lockedOut))
        #expect(fprintd.calls.all.count { $0 == "VerifyStart" } == 5)
    }

    @Test("A miss counts even if the reader fails afterwards")
    func missThenFailure() throws {
        let starts = Collected<Bool>()
        let fprintd = try HostileFprintd { call, connection in
            guard call.member == "VerifyStart" else { return false }
            starts.append(true)
            let status = starts.all.count == 1 ? "verify-no-match" : "verify-unknown-error"
            HostileFprintd.emit(status, isDone: true, from: connection)
            return false
        }
        let lockout = BiometryLockout()
        let outcome = fprintd.verifier(lockout).outcome()
        #expect(outcome.isReaderFailure, "\(outcome)")
        #expect(lockout.misses(of: Self.user).count == 1)
    }

    @Test(
        "A status that fprintd does not have, a match that is not the last status, and a flood end the question",
        arguments: [
            ("verify-match", 1), ("verify-perfect", 1), ("", 1), ("verify-retry-scan", 5_000),
        ])
    func statuses(_ status: String, count: Int) throws {
        let fprintd = try HostileFprintd { call, connection in
            if call.member == "VerifyStart" {
                for _ in 0..<count { HostileFprintd.emit(status, isDone: false, from: connection) }
            }
            return false
        }
        let outcome = fprintd.verifier().outcome()
        #expect(outcome.isReaderFailure, "\(outcome)")
    }

    @Test("Statuses of other types are ignored, and a verification that never ends stops at the deadline")
    func endless() throws {
        let fprintd = try HostileFprintd { call, connection in
            if call.member == "VerifyStart" {
                for content in [[], [.string("verify-match")], [.string("verify-match"), .uint32(1)]] as [[BusValue]] {
                    HostileFprintd.emit(content, from: connection)
                }
            }
            return false
        }
        #expect(fprintd.verifier().outcome(seconds: 1) == .failure(.timedOut))
        #expect(eventually { fprintd.calls.all.last == "Release" })
    }

    @Test(
        "A service that answers no call does not hold the question", .long,
        arguments: [
            "GetDefaultDevice", "Claim", "VerifyStart", "VerifyStop", "Release",
        ])
    func silent(_ member: String) throws {
        let unanswered = Collected<BusMethodCall>()
        let fprintd = try HostileFprintd { call, connection in
            if call.member == "VerifyStart" {
                HostileFprintd.emit("verify-match", isDone: true, from: connection)
            }
            guard call.member == member else { return false }
            unanswered.append(call)
            return true
        }
        // The calls at the end have a shorter timeout of their own.
        let isAtEnd = ["VerifyStop", "Release"].contains(member)
        let verifier = FingerprintVerifier(on: fprintd.bus, timeout: isAtEnd ? .seconds(60) : .milliseconds(500))
        // A claimed reader is released with the connection.
        #expect(verifier.outcome().isMatch == isAtEnd)
    }

    @Test("Without fprintd, and without a bus, the hint names the packages")
    func missing() throws {
        let bus = try PrivateBus()
        let verifier = FingerprintVerifier(on: bus)
        for _ in 1...2 {
            guard case .unavailable(let error) = verifier.availability(for: Self.user) else {
                Issue.record("a reader without fprintd")
                return
            }
            #expect(error.hint == "apt install fprintd")
            bus.stop()
        }
        #expect(!verifier.availability(for: Self.user).hasReader)
    }
}
