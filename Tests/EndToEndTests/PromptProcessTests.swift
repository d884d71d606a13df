// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import Testing

/// The command, latchkeyd of a user, and pinentry-curses on the terminal of the command.
@Suite(
    "Prompts of commands",
    .enabled(if: access("/usr/bin/pinentry-curses", X_OK) == 0, "pinentry-curses is not installed"))
struct PromptProcessTests {
    private let daemon: DaemonProcess
    private let terminal: PseudoTerminal
    private let passcode: String

    init() throws { try self.init([]) }

    /// - Parameter options: further options of latchkeyd.
    private init(_ options: [String]) throws {
        daemon = try DaemonProcess(["--user"] + options)
        terminal = try PseudoTerminal()
        passcode = "\(daemon.directory.path)/passcode"
        _ = FileManager.default.createFile(
            atPath: passcode, contents: Data("the passcode".utf8), attributes: [.posixPermissions: 0o600])
        try #require(try daemon.client("latchkey", ["passcode", "set", "--passcode-file", passcode]).status == 0)
        let added = try daemon.client(
            "latchkey",
            [
                "add-generic-password", "-a", "alice", "-s", "bank", "-l", "My bank", "-w", "s3cret",
                "--access-control", "userPresence",
            ])
        try #require(added.status == 0, "\(added.error)")
    }

    /// Starts the command that reads the item.
    private func find(_ more: [String] = []) throws -> CommandOnTerminal {
        try CommandOnTerminal(
            ["find-generic-password", "-a", "alice", "-s", "bank", "-w"] + more, on: terminal, clientOf: daemon)
    }

    /// The running programs that latchkeyd has started.
    private var pinentries: [pid_t] { ProcessTable.children(of: daemon.process.processIdentifier) }

    @Test("The item is printed after the right passcode, also after a wrong one")
    func right() throws {
        let command = try find(["--prompt", "to pay"])
        #expect(terminal.waitForPrompt("Passcode of the keychain:"))
        for text in ["My bank", "to pay", "\(command.processIdentifier)"] {
            #expect(terminal.screen.contains(text), "\(text)")
        }
        terminal.type("wrong\r")
        #expect(terminal.waitForNewPrompt("The passcode is wrong. 2 attempts are left."))
        terminal.type("the passcode\r")
        #expect(command.wait() == 0)
        #expect(command.output == "s3cret\n")
        #expect(terminal.echoes)
    }

    /// A word of the prompt of a command. Around it, the terminal may begin a line: that depends on the lengths of its path
    /// and of its number.
    private func word(of command: CommandOnTerminal) -> String { "\(command.processIdentifier))" }

    @Test("A cancelled prompt ends the command with 128, and the item is not printed")
    func cancelled() throws {
        let command = try find()
        #expect(terminal.waitForPrompt("Passcode of the keychain:"))
        terminal.type("\t\t\r")
        #expect(command.wait() == 128)
        #expect(!command.output.contains("s3cret"))
    }

    @Test("Without a terminal and a display, or with --no-prompt, the command ends with 36 at once")
    func notInteractive() throws {
        let outcome = try daemon.client("latchkey", ["find-generic-password", "-a", "alice", "-s", "bank", "-w"])
        #expect(outcome.status == 36 && outcome.error.contains("no terminal and no display"), "\(outcome.error)")
        let command = try find(["--no-prompt"])
        #expect(command.wait() == 36)
        #expect(!command.output.contains("s3cret"))
    }

    @Test(
        "A prompt that is not answered ends with its program, status -25293 and exit 51, and the next call prompts",
        .long,
        .long)
    func unanswered() throws {
        let own = try Self(["--prompt-timeout", "20"])
        let command = try own.find()
        #expect(own.terminal.waitForNewPrompt(word(of: command)))
        #expect(own.pinentries.count == 1)
        #expect(command.wait() == 51)
        #expect(own.terminal.screen.contains("the prompt was not answered in time"))
        #expect(!command.output.contains("s3cret"))
        #expect(eventually { own.pinentries.isEmpty } && own.terminal.echoes)

        let second = try own.find()
        #expect(own.terminal.waitForNewPrompt(word(of: second)))
        second.stop(signal: SIGKILL)
        #expect(eventually { own.pinentries.isEmpty })
    }

    @Test(
        "A timeout that is not 5 to 3600 seconds is rejected by name", .long, arguments: ["0", "4", "3601", "-1", "x"])
    func invalidTimeout(_ seconds: String) throws {
        let outcome = try daemon.client("latchkeyd", ["--user", "--prompt-timeout=\(seconds)"])
        #expect(outcome.status == 64 && outcome.error.contains("--prompt-timeout"), "\(outcome)")
    }

    @Test("A command that ends during its prompt ends the prompt")
    func abandoned() throws {
        let command = try find()
        #expect(terminal.waitForNewPrompt(word(of: command)))
        command.stop(signal: SIGKILL)
        // The daemon has noticed when another command gets its own prompt.
        let second = try find()
        #expect(terminal.waitForNewPrompt(word(of: second)))
        terminal.type("the passcode\r")
        #expect(second.wait() == 0)
        #expect(second.output == "s3cret\n")
    }
}
