// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import KeychainModel
import KeychainTesting
import LinuxSystem
@testable import Presence
import Testing

/// A program that does not behave as pinentry does gets no answer accepted, and is ended.
@Suite("A pinentry that does not follow its protocol")
struct HostilePinentryTests {
    @Test(
        "An answer that violates the protocol or a limit is not accepted",
        arguments: [
            ("GETPIN) echo 'D a%4'; echo OK ;;", "escape"),
            ("GETPIN) echo 'D a%zz'; echo OK ;;", "escape"),
            ("GETPIN) echo 'D a%'; echo OK ;;", "escape"),
            ("GETPIN) printf 'D \\377\\n'; echo OK ;;", "UTF-8"),
            ("GETPIN) printf 'D %01024d\\n' 1; echo OK ;;", "line of more than 1000"),
            ("GETPIN) printf 'D %0900d\\nD %0125d\\n' 1 1; echo OK ;;", "more than 1024 bytes"),
            ("GETPIN) while :; do printf aaaaaaaaaaaaaaaa; done ;;", "line of more than 1000"),
            ("GETPIN) while :; do echo 'S a'; done ;;", "more than 65536 bytes"),
            ("GETPIN) while :; do echo '# a'; done ;;", "more than 65536 bytes"),
            ("GETPIN) while :; do echo 'D aaaaaaaaaaaaaaaaaaaa'; done ;;", "more than 1024 bytes"),
            ("GETPIN) head -c 10000000 /dev/zero; echo OK ;;", "line of more than 1000"),
            ("GETPIN) echo 'D abc'; exit 0 ;;", "ended before"),
            ("GETPIN) echo 'D abc'; kill -9 $$ ;;", "ended before"),
            ("GETPIN) echo hello; echo OK ;;", "not of its protocol"),
            ("GETPIN) echo; echo OK ;;", "not of its protocol"),
            ("GETPIN) echo 'OKAY' ;;", "not of its protocol"),
            ("GETPIN) echo 'ERR' ;;", "not of its protocol"),
            ("GETPIN) echo 'ERR 99999999999999999999 x' ;;", "not of its protocol"),
            ("GETPIN) echo 'ERR -1 x' ;;", "not of its protocol"),
            ("GETPIN) echo 'INQUIRE QUALITY abc' ;;", "not of its protocol"),
            ("SETDESC*) echo 'ERR 83886254 Unknown command' ;;", "error 174"),
            ("SETDESC*) echo 'D abc'; echo OK ;;", "data that was not requested"),
            ("SETPROMPT*) exec <&-; echo OK; exec sleep 100000 ;;", "Broken pipe"),
            ("GETPIN) echo 'ERR 5 \u{1B}]0;x\u{7}' ;;", "error 5 (\u{1B}]0;x\u{7})"),
        ])
    func violations(_ script: String, _ reason: String) throws {
        let fake = try FakePinentry(cases: script)
        let outcome = try Asking(fake.method, .sample(place: FakePinentry.place)).outcome()
        guard case .unavailable(.programFailed(fake.path, let found)) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(found.contains(reason), "\(found)")
        let problem = PresenceUnavailability.programFailed(path: fake.path, reason: found).problem
        #expect(problem.unicodeScalars.allSatisfy(PrintableText.isPrintable), "\(problem)")
    }

    @Test(
        "An answer may come in several lines and with escapes",
        arguments: [
            ("echo 'D abc'; echo 'D %64ef'; echo OK", PresenceOutcome.confirmed(text: "abcdef")),
            ("echo 'S x'; echo '# y'; echo 'D %25%0A%c3%A4'; echo 'OK done'", .confirmed(text: "%\nä")),
            (
                "printf 'D %0900d\\nD %0124d\\nOK\\n' 1 1",
                .confirmed(text: String(repeating: "0", count: 899) + "1" + String(repeating: "0", count: 123) + "1")
            ),
            ("echo OK", .denied),
            ("echo 'D '; echo OK", .denied),
            ("echo 'ERR 83886179 Operation cancelled <Pinentry>'", .cancelled),
            ("echo 'ERR 83886278'", .cancelled),
            ("echo 'ERR 83886194 Not confirmed'", .denied),
            ("echo 'ERR 83886142 Timeout'", .timedOut),
            ("echo 'D abc'; echo 'ERR 99 Cancelled'", .cancelled),
        ])
    func answers(_ script: String, _ outcome: PresenceOutcome) throws {
        let fake = try FakePinentry(cases: "GETPIN) \(script) ;;")
        #expect(try Asking(fake.method, .sample(place: FakePinentry.place)).outcome() == outcome)
    }

    @Test(
        "A program that never answers is ended at the deadline, with the programs that it started", .long,
        arguments: ["GETPIN) exec sleep 100000 ;;", "OPTION*) trap '' TERM; while :; do sleep 1; done ;;"])
    func neverAnswers(_ script: String) throws {
        let fake = try FakePinentry(
            greeting:
                "sh -c 'trap \"\" TERM HUP; while :; do sleep 1; done' & echo $! > \"${0%/*}/child\"; echo $$ > \"${0%/*}/self\"; echo OK",
            cases: script)
        #expect(try Asking(fake.method, .sample(place: FakePinentry.place), timeout: 1).outcome() == .timedOut)
        // A slow machine may reach the deadline before the program has written the files.
        for name in ["self", "child"] {
            guard let process = (try? fake.lines(of: name))?.first.flatMap(pid_t.init) else { continue }
            #expect(eventually { Self.hasEnded(process) }, "\(name)")
        }
    }

    @Test("A cancelled question ends the program, even before it greets")
    func cancelled() throws {
        let fake = try FakePinentry(greeting: "echo $$ > \"${0%/*}/self\"; exec sleep 100000", cases: "")
        let asking = try Asking(fake.method, .sample(place: FakePinentry.place))
        #expect(eventually { (try? fake.lines(of: "self"))?.isEmpty == false })
        asking.cancellation.request()
        #expect(try asking.outcome() == .cancelled)
        let process = try #require(fake.lines(of: "self").first.flatMap(pid_t.init))
        #expect(eventually { Self.hasEnded(process) })
    }

    @Test("The program gets only the environment and the arguments that it needs")
    func environment() throws {
        setenv("LATCHKEY_PRESENCE_TEST", "secret", 1)
        let fake = try FakePinentry(
            cases: """
                GETPIN) tr '\\0' '\\n' < /proc/$$/environ > "${0%/*}/environment"
                    tr '\\0' '\\n' < /proc/$$/cmdline > "${0%/*}/arguments"
                    ls /proc/$$/fd | wc -w > "${0%/*}/descriptors"
                    echo 'D abc'; echo OK ;;
                """)
        let place = PromptPlace([
            .display: ":7", .authorityFile: "/tmp/cookies", .sessionBus: "unix:path=/run/bus",
            .waylandDisplay: "wayland-1",
        ])
        #expect(try Asking(fake.method, .sample(place: place)).outcome() == .confirmed(text: "abc"))
        let entries = try fake.lines(of: "environment").filter { !$0.hasPrefix("HOME=/") }
        #expect(
            entries.sorted() == [
                "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/bus", "DISPLAY=:7", "LC_ALL=C.UTF-8", "PATH=/usr/bin:/bin",
                "WAYLAND_DISPLAY=wayland-1", "XAUTHORITY=/tmp/cookies", "XDG_RUNTIME_DIR=/run/user/\(geteuid())",
            ])
        #expect(try fake.lines(of: "arguments") == ["/bin/sh", fake.path])
    }

    @Test("The sent lines are escaped, have at most 1000 bytes, and never offer the external cache")
    func commands() throws {
        let fake = try FakePinentry(
            greeting: "echo OK",
            cases: "GETPIN) echo 'D abc'; echo OK ;; *) printf '%s\\n' \"$line\" >> \"${0%/*}/log\"; echo OK ;;")
        var request = PresenceRequest.longest(
            place: FakePinentry.place, filler: "\u{1B}[2J\nOK\n%\u{202E}")
        request.user = geteuid()
        #expect(try Asking(fake.method, request).outcome() == .confirmed(text: "abc"))
        let lines = try fake.lines(of: "log")
        let known = ["OPTION lc-ctype", "SETTIMEOUT", "SETTITLE", "SETDESC", "SETOK", "SETERROR", "SETPROMPT"]
        #expect(lines.count == known.count)
        for (line, name) in zip(lines, known) { #expect(line.hasPrefix(name) && line.utf8.count <= 1000, "\(line)") }
        for line in lines {
            #expect(line.unicodeScalars.allSatisfy(PrintableText.isPrintable), "\(line)")
            #expect(!line.contains("allow-external-password-cache"))
        }
    }

    @Test(
        "If the first program cannot display the question, the next one asks; if it fails later, none does",
        arguments: [
            ("exit 1", "", true), ("echo ERR 5", "", true), ("echo OK", "SETDESC*) exit 1 ;;", true),
            ("echo OK", "GETPIN) echo 'ERR 83918950 Inappropriate ioctl for device' ;;", true),
            ("echo OK", "GETPIN) exit 1 ;;", false), ("echo OK", "GETPIN) echo hello ;;", false),
            ("echo OK", "GETPIN) echo 'ERR 83886179 cancelled' ;;", false),
        ])
    func nextProgram(_ greeting: String, _ cases: String, _ asksAgain: Bool) throws {
        let fake = try FakePinentry(greeting: greeting, cases: cases)
        let other = try FakePinentry(cases: "GETPIN) echo 'D abc'; echo OK ;;")
        #expect(rename(other.path, "\(fake.directory.path)/pinentry-qt") == 0)
        let outcome = try Asking(fake.method, .sample(place: FakePinentry.place)).outcome()
        #expect((outcome == .confirmed(text: "abc")) == asksAgain, "\(outcome)")
    }

    @Test("A program that Ctrl-C ends in the foreground of the terminal was cancelled; elsewhere it has failed")
    func interrupted() {
        #expect(PinentryError.ended.outcome(of: "p", isForeground: true) == .cancelled)
        #expect(
            PinentryError.ended.outcome(of: "p", isForeground: false)
                == .unavailable(.programFailed(path: "p", reason: "it ended before it had answered")))
    }

    /// Whether the process has ended, even if its new parent has not reaped it yet.
    private static func hasEnded(_ process: pid_t) -> Bool {
        guard let status = try? String(contentsOf: URL(filePath: "/proc/\(process)/status"), encoding: .utf8) else {
            return true
        }
        return status.contains("State:\tZ")
    }
}
