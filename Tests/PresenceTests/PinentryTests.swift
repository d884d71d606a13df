// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainModel
import KeychainTesting
import LinuxSystem
@testable import Presence
import Testing

/// The programs pinentry-curses and pinentry-tty on a pseudo-terminal.
@Suite("Pinentry on a terminal", .enabled(if: TerminalProgram.areInstalled, "pinentry-curses and pinentry-tty"))
struct PinentryTests {
    let terminal: PseudoTerminal

    init() throws { terminal = try PseudoTerminal() }

    private func place(_ program: TerminalProgram) -> PromptPlace {
        PromptPlace([.terminal: terminal.path, .terminalType: program.terminalType])
    }

    @Test(
        "The passcode that a person types is the answer, and the terminal does not show it",
        arguments: TerminalProgram.allCases)
    func right(_ program: TerminalProgram) throws {
        let asking = try Asking(program.method, .sample(place: place(program)))
        #expect(terminal.waitForPrompt("Passcode of the keychain:"))
        terminal.type("50% pässwörd\r")
        #expect(try asking.outcome { _ = terminal.screen } == .confirmed(text: "50% pässwörd"))
        for text in ["/usr/bin/example", "Example", "to log in"] { #expect(terminal.screen.contains(text), "\(text)") }
        #expect(!terminal.screen.contains("wörd") && terminal.echoes)
    }

    @Test("A second question says that the first answer was wrong", arguments: TerminalProgram.allCases)
    func again(_ program: TerminalProgram) throws {
        let place = place(program)
        let first = try Asking(program.method, .sample(place: place))
        #expect(terminal.waitForPrompt("Passcode of the keychain:"))
        terminal.type("wrong\r")
        #expect(try first.outcome { _ = terminal.screen } == .confirmed(text: "wrong"))
        let second = try Asking(
            program.method, .sample(place: place, failure: .wrongSecret(attemptsLeft: 2)))
        #expect(terminal.waitForPrompt("The passcode is wrong. 2 attempts are left."))
        terminal.type("right\r")
        #expect(try second.outcome { _ = terminal.screen } == .confirmed(text: "right"))
    }

    @Test(
        "A person cancels the question with the keys of the program",
        arguments: [
            (TerminalProgram.curses, "\t\t\r"), (.tty, "\u{4}"), (.tty, "\u{3}"),
        ])
    func cancel(_ program: TerminalProgram, _ keys: String) throws {
        let asking = try Asking(program.method, .sample(place: place(program)))
        #expect(terminal.waitForPrompt("Passcode of the keychain:"))
        terminal.type(keys)
        #expect(try asking.outcome { _ = terminal.screen } == .cancelled)
        #expect(terminal.echoes)
    }

    @Test("An empty answer is a no", arguments: TerminalProgram.allCases)
    func empty(_ program: TerminalProgram) throws {
        let asking = try Asking(program.method, .sample(place: place(program)))
        #expect(terminal.waitForPrompt("Passcode of the keychain:"))
        terminal.type("\r")
        #expect(try asking.outcome { _ = terminal.screen } == .denied)
    }

    @Test("A question without an answer times out", .long, arguments: TerminalProgram.allCases)
    func timeout(_ program: TerminalProgram) throws {
        let asking = try Asking(program.method, .sample(place: place(program)), timeout: 1)
        #expect(try asking.outcome { _ = terminal.screen } == .timedOut)
        #expect(terminal.echoes)
    }

    @Test(
        "A cancelled question ends a program that has got half of the answer, and restores the terminal",
        arguments: TerminalProgram.allCases)
    func endedByForce(_ program: TerminalProgram) throws {
        let asking = try Asking(program.method, .sample(place: place(program)))
        #expect(terminal.waitForPrompt("Passcode of the keychain:"))
        terminal.type("half")
        asking.cancellation.request()
        #expect(try asking.outcome { _ = terminal.screen } == .cancelled)
        #expect(terminal.echoes)
    }

    @Test(
        "A new password is typed twice, and asked for again if the entries differ", arguments: TerminalProgram.allCases)
    func new(_ program: TerminalProgram) throws {
        let asking = try Asking(program.method, .sample(.newApplicationPassword, place: place(program)))
        for (prompt, answer) in [
            ("New password:", "one"), ("Repeat", "two"), ("The two entries differ.", "three"), ("Repeat", "three"),
        ] {
            #expect(terminal.waitForNewPrompt(prompt))
            terminal.type("\(answer)\r")
        }
        #expect(try asking.outcome { _ = terminal.screen } == .confirmed(text: "three"))
    }

    @Test("The prompt of a touch disappears when the touch has come")
    func touch() throws {
        let place = place(.curses)
        let asking = try Asking(TerminalProgram.curses.method, .sample(.securityKey, place: place))
        #expect(terminal.waitForPrompt("touch your security key"))
        asking.cancellation.request()
        #expect(try asking.outcome { _ = terminal.screen } == .cancelled)
        #expect(terminal.echoes)
    }

    @Test(
        "The buttons of the prompt of a finger choose the passcode or cancel, and never confirm",
        arguments: [
            ("Use_it" as String?, "\r", PresenceOutcome.fallback), ("Use_it", "\t\r", .cancelled),
            (nil, "\r", .cancelled),
        ])
    func finger(_ fallback: String?, _ keys: String, _ outcome: PresenceOutcome) throws {
        var request = PresenceRequest.sample(.fingerprint, place: place(.curses))
        request.fallbackTitle = fallback
        request.cancelTitle = "Not now"
        let asking = try Asking(TerminalProgram.curses.method, request)
        #expect(terminal.waitForPrompt("touch the fingerprint reader"))
        #expect(eventually { terminal.screen.contains("Not now") && terminal.screen.contains(fallback ?? "Not now") })
        terminal.type(keys)
        #expect(try asking.outcome { _ = terminal.screen } == outcome)
        #expect(terminal.echoes)
    }

    @Test("A prompt that disappears by itself leaves the screen as it was")
    func screen() throws {
        let asking = try Asking(TerminalProgram.curses.method, .sample(.fingerprint, place: place(.curses)))
        #expect(terminal.waitForPrompt("touch the fingerprint reader"))
        #expect(terminal.screen.contains("\u{1B}[?1049h"))
        asking.cancellation.request()
        #expect(try asking.outcome { _ = terminal.screen } == .cancelled)
        #expect(eventually { terminal.screen.contains("\u{1B}[?1049l") })
    }

    @Test(
        "A person allows or denies a confirmation",
        arguments: [
            (TerminalProgram.curses, "\r", PresenceOutcome.confirmed(nil)), (.curses, "\t\r", .denied),
            (.tty, "a", .confirmed(nil)), (.tty, "d", .denied),
        ])
    func confirmation(_ program: TerminalProgram, _ keys: String, _ outcome: PresenceOutcome) throws {
        let asking = try Asking(program.method, .sample(.confirmation, place: place(program)))
        #expect(terminal.waitForPrompt("eny"))
        terminal.type(keys)
        #expect(try asking.outcome { _ = terminal.screen } == outcome)
    }

    @Test("A question with the longest texts fits on a terminal of 24 lines", arguments: TerminalProgram.allCases)
    func longest(_ program: TerminalProgram) throws {
        var request = PresenceRequest.longest(place: place(program))
        request.user = geteuid()
        let asking = try Asking(program.method, request)
        #expect(terminal.waitForPrompt("Passcode of the keychain:"))
        terminal.type("abc\r")
        #expect(try asking.outcome { _ = terminal.screen } == .confirmed(text: "abc"))
    }

    @Test(
        "A terminal that accepts no output delays the answer only until the deadline", .long,
        arguments: TerminalProgram.allCases)
    func stopped(_ program: TerminalProgram) throws {
        // Ctrl-S stops the output of the terminal.
        terminal.type("\u{13}")
        #expect(try Asking(program.method, .sample(place: place(program)), timeout: 1).outcome() == .timedOut)
        #expect(terminal.echoes)
    }

    @Test("A terminal that does not exist, or is another kind of device, cannot be used")
    func noTerminal() throws {
        for (path, reason) in [("/dev/pts/99999", "No such file or directory"), ("/dev/ttynone", "No such file")] {
            let place = PromptPlace([.terminal: path])
            let asking = try Asking(Pinentry(), .sample(place: place))
            guard case .unavailable(.unusableTerminal(path, let found)) = try asking.outcome() else {
                Issue.record("\(path) was used")
                continue
            }
            #expect(found.hasPrefix(reason))
            #expect(
                Pinentry().unavailability(for: geteuid(), at: place) == .unusableTerminal(path: path, reason: found))
        }
    }

    @Test("Another user's keychain is not unlocked by this process, even as root")
    func otherUser() throws {
        var request = PresenceRequest.sample(place: PromptPlace([.terminal: terminal.path]))
        request.user = geteuid() + 1
        #expect(try Asking(Pinentry(), request).outcome() == .unavailable(.otherUser(request.user)))
    }
}

/// A program, with the terminal that makes it the first choice.
enum TerminalProgram: String, CaseIterable, CustomTestStringConvertible {
    case curses, tty

    var testDescription: String { rawValue }
    var method: Pinentry { Pinentry() }
    var terminalType: String { self == .curses ? "xterm" : "dumb" }

    static var areInstalled: Bool {
        allCases.allSatisfy { access("/usr/bin/pinentry-\($0.rawValue)", X_OK) == 0 }
    }
}
