// SPDX-License-Identifier: Apache-2.0

import EnrolledPrints
import Fingerprint
import Glibc
import KeychainTesting
import Presence
import SystemBus
import Testing

@Suite("Errors of fingerprints")
struct FingerprintErrorTests {
    @Test("Every error has its own result of a question", arguments: expectedOutcomes)
    func outcomes(_ error: FingerprintError, _ expected: PresenceOutcome) {
        #expect(error.outcome == expected)
    }

    @Test("An error of the reader names the problem and the command", arguments: readerErrors)
    func messages(_ error: FingerprintError, _ hint: String) {
        guard case .unavailable(.noFingerprintReader(let reason, hint)) = error.outcome else {
            Issue.record("\(error.outcome)")
            return
        }
        #expect(reason == error.description)
    }

    @Test(
        "The errors of fprintd and of the bus keep their meaning",
        .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"), arguments: errorNames)
    func names(_ name: String, _ expected: FingerprintError) throws {
        let fprintd = try HostileFprintd { call, _ in
            guard call.member == "ListEnrolledFingers" else { return false }
            call.fail(BusFailure(name, "text"))
            return true
        }
        #expect(throws: expected) { try fprintd.reader.enrolledFingers(of: geteuid()) }
    }

    private static let expectedOutcomes: [(FingerprintError, PresenceOutcome)] = [
        (.cancelled, .cancelled), (.timedOut, .timedOut), (.notRecognized, .denied),
        (.notEnrolled, .unavailable(.biometryNotEnrolled)), (.lockedOut, .unavailable(.biometryLocked)),
    ]

    private static let readerErrors: [(FingerprintError, String)] = [
        (.noService("text"), "apt install fprintd"),
        (.untrustedBus(user: 1000), "unset DBUS_SYSTEM_BUS_ADDRESS, and start latchkeyd again"),
        (.untrustedService(user: 1000), "systemctl status fprintd"),
        (.readerInUse, "end the other program, or use the passcode"),
        (.unknownUser(1000), "getent passwd 1000"),
        (.failed("text"), "journalctl -u fprintd"),
        (.unknownSet(.timedOut), "journalctl -u 'latchkey-biometry-digest@*'"),
    ]

    private static let errorNames: [(String, FingerprintError)] = [
        ("net.reactivated.Fprint.Error.NoSuchDevice", .noReader),
        ("net.reactivated.Fprint.Error.NoEnrolledPrints", .notEnrolled),
        ("net.reactivated.Fprint.Error.AlreadyInUse", .readerInUse),
        (
            "net.reactivated.Fprint.Error.PermissionDenied",
            .notPermitted("text (net.reactivated.Fprint.Error.PermissionDenied)")
        ),
        ("org.freedesktop.DBus.Error.AccessDenied", .notPermitted("text (org.freedesktop.DBus.Error.AccessDenied)")),
        ("org.freedesktop.DBus.Error.UnknownObject", .disconnected),
        ("org.freedesktop.DBus.Error.ServiceUnknown", .noService("text (org.freedesktop.DBus.Error.ServiceUnknown)")),
        (
            "org.freedesktop.DBus.Error.Spawn.ExecFailed",
            .noService("text (org.freedesktop.DBus.Error.Spawn.ExecFailed)")
        ),
        ("net.reactivated.Fprint.Error.Internal", .failed("text (net.reactivated.Fprint.Error.Internal)")),
    ]
}
