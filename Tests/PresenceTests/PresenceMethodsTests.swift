// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainModel
import KeychainTesting
import LinuxSystem
@testable import Presence
import Testing

/// The method that asks, and the reason if none can.
@Suite("Methods of asking")
struct PresenceMethodsTests {
    @Test("The first available method with the factor asks")
    func choice() {
        let missing = PresenceUnavailability.noProgram(searched: ["x"])
        let methods = PresenceMethods([
            Method(name: "other", factors: [.fingerprint], outcome: .denied),
            Method(name: "missing", factors: [.passcode], unavailability: missing, outcome: .denied),
            Method(name: "present", factors: [.passcode], outcome: .confirmed(text: "abc")),
        ])
        #expect(Self.ask(methods, .passcode) == .confirmed(text: "abc"))
        #expect(Self.ask(methods, .fingerprint) == .denied)
        #expect(Self.ask(methods, .securityKey) == .unavailable(.noMethod(.securityKey)))
        #expect(methods.unavailability(of: .passcode, for: geteuid(), at: .none) == nil)
        #expect(
            methods.report(for: geteuid(), at: .none) == [
                PresenceMethodReport(name: "other", factors: [.fingerprint], unavailability: nil),
                PresenceMethodReport(name: "missing", factors: [.passcode], unavailability: missing),
                PresenceMethodReport(name: "present", factors: [.passcode], unavailability: nil),
            ])
    }

    @Test("Without a terminal and a display, the answer comes at once and names the missing place")
    func noPlace() {
        let methods = PresenceMethods([Pinentry(programs: PinentryPrograms(directories: [], owner: 0))])
        let reason = PresenceUnavailability.noPlace(ignored: [])
        #expect(Self.ask(methods, .passcode) == .unavailable(reason))
        #expect(methods.unavailability(of: .passcode, for: geteuid(), at: .none) == reason)
        #expect(
            methods.report(for: geteuid(), at: .none) == [
                PresenceMethodReport(
                    name: "pinentry",
                    factors: [
                        .passcode, .applicationPassword, .newApplicationPassword, .confirmation, .fingerprint,
                        .securityKey, .securityKeyPIN,
                    ],
                    unavailability: reason)
            ])
    }

    @Test("A reason is a sentence with printable text, and has a hint", arguments: reasons)
    func words(_ reason: PresenceUnavailability, _ problem: String, _ hint: String) {
        #expect(reason.problem == problem)
        #expect(reason.hint == hint)
    }

    private static let reasons: [(PresenceUnavailability, String, String)] = [
        (
            .noPlace(ignored: []), "the program has no terminal and no display to ask a person",
            "run the program on a terminal or in a graphical session"
        ),
        (
            .unusableTerminal(path: "/dev/pts/1", reason: "Permission denied"),
            "the terminal /dev/pts/1 cannot be used: Permission denied",
            "run the program on a terminal that belongs to you, for example with `su --pty`"
        ),
        (
            .noProgram(searched: ["pinentry-curses", "pinentry"]),
            "no program that prompts is installed (searched: pinentry-curses, pinentry)", "apt install pinentry-curses"
        ),
        (
            .noProgram(searched: ["pinentry-gnome3", "pinentry"]),
            "no program that prompts is installed (searched: pinentry-gnome3, pinentry)", "apt install pinentry-gnome3"
        ),
        (
            .programFailed(path: "/usr/bin/pinentry\u{1B}", reason: "a\nb"), #"/usr/bin/pinentry\x1b failed: a\nb"#,
            "install another pinentry: apt install pinentry-curses"
        ),
        (
            .noMethod(.securityKey), "no method that asks for a security key is available",
            "latchkey status shows the methods that are available"
        ),
        (.otherUser(1000), "this process cannot ask user 1000", "use the keychain as its own user"),
        (
            .tooManyQuestions(limit: 32), "32 questions are already waiting for an answer",
            "answer or cancel the open questions"
        ),
        (
            .noFingerprintReader(reason: "no reader\u{1B}", hint: "apt install fprintd\n"), #"no reader\x1b"#,
            #"apt install fprintd\n"#
        ),
        (.biometryNotEnrolled, "no finger is enrolled", "fprintd-enroll"),
        (
            .biometryLocked, "fingerprints are locked, because too many in sequence were not recognized",
            "latchkey unlock (asks for the passcode)"
        ),
    ]

    private static func ask(_ methods: PresenceMethods, _ factor: PresenceFactor) -> PresenceOutcome {
        methods.ask(
            .sample(factor, place: .none), until: BootClock.system.now() + 600_000_000_000, cancellation: Cancellation()
        )
    }

    private struct Method: PresenceMethod {
        let name: String
        let factors: Set<PresenceFactor>
        var unavailability: PresenceUnavailability?
        let outcome: PresenceOutcome

        func unavailability(for user: UInt32, at place: PromptPlace) -> PresenceUnavailability? { unavailability }
        func ask(_ request: PresenceRequest, until deadline: UInt64, cancellation: Cancellation) -> PresenceOutcome {
            outcome
        }
    }
}
