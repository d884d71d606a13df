// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

/// Prompts on a pseudo-terminal that script(1) creates.
@Suite("At a terminal")
struct TerminalTests {
    @Test("-w without a value prompts twice without echo, and stores the typed password")
    func asksTwice() throws {
        let shell = try Shell()
        let terminal = try Terminal(shell, "security add-generic-password -a a -s s -w")
        try terminal.expect("password data for new item: ")
        terminal.type("pass wörd\n")
        try terminal.expect("retype password for new item: ")
        terminal.type("pass wörd\n")
        let ended = terminal.end()
        #expect(ended.status == 0)
        #expect(!ended.shown.contains("wörd"), "\(ended.shown)")
        #expect(try shell.run("security find-generic-password -w").output == "706173732077c3b67264\n")
    }

    @Test("different answers store nothing")
    func differ() throws {
        let shell = try Shell()
        let terminal = try Terminal(shell, "security add-generic-password -a a -s s -w")
        try terminal.expect("password data for new item: ")
        terminal.type("one\n")
        try terminal.expect("retype password for new item: ")
        terminal.type("two\n")
        let ended = terminal.end()
        #expect(ended.status == 1 && ended.shown.contains("passwords don't match"))
        #expect(try shell.run("security find-generic-password -w").exit == 44)
    }

    @Test("Ctrl-C ends the prompt, stores nothing, and restores the terminal's echo")
    func interrupt() throws {
        let shell = try Shell()
        let terminal = try Terminal(
            shell, "security add-generic-password -a a -s s -w; echo \"status $?\"; stty -a | grep -o ' -\\?echo '")
        try terminal.expect("password data for new item: ")
        terminal.type("half\u{3}")
        let ended = terminal.end()
        #expect(ended.shown.contains("status 128"), "\(ended.shown)")
        #expect(ended.shown.contains(" echo "), "\(ended.shown)")
        #expect(!ended.shown.contains("half"))
        #expect(try shell.run("security find-generic-password -w").exit == 44)
    }

    @Test("a new passcode is prompted for twice, and unlocks when it is typed at the prompt")
    func passcode() throws {
        let shell = try Shell()
        #expect(try shell.run("security add-generic-password -a a -s s -w v").exit == 0)
        let setting = try Terminal(shell, "latchkey passcode set")
        try setting.expect("new passcode: ")
        setting.type("correct horse battery\n")
        try setting.expect("repeat it: ")
        setting.type("correct horse battery\n")
        let set = setting.end()
        #expect(set.status == 0 && !set.shown.contains("horse"))
        let finding = try Terminal(shell, "security find-generic-password -a a -w")
        try finding.expect("passcode of the keychain: ")
        finding.type("correct horse battery\n")
        let found = finding.end()
        #expect(found.status == 0 && found.shown.contains("v\r\n") && !found.shown.contains("horse"))
    }

    @Test("set prompts twice without echo, and get shows the secret only with --reveal")
    func daily() throws {
        let shell = try Shell()
        let setting = try Terminal(shell, "latchkey set example.com/alice")
        try setting.expect("secret: ")
        setting.type("pass wörd\n")
        try setting.expect("repeat it: ")
        setting.type("pass wörd\n")
        let set = setting.end()
        #expect(set.status == 0 && !set.shown.contains("wörd"), "\(set.shown)")
        #expect(try shell.run("latchkey get example.com/alice").output == "pass wörd")
        let masked = try Terminal(shell, "latchkey get example.com/alice").end()
        #expect(masked.status == 0 && masked.shown.hasPrefix("********\r\n") && !masked.shown.contains("wörd"))
        let revealed = try Terminal(shell, "latchkey get --reveal example.com/alice").end()
        #expect(revealed.status == 0 && revealed.shown == "pass wörd\r\n")
    }

    @Test("set and rm ask before they replace or delete, and any answer except yes changes nothing")
    func questions() throws {
        let shell = try Shell()
        #expect(try shell.run("printf one | latchkey set a/b").exit == 0)
        for (command, prompts, question) in [
            ("latchkey set a/b", ["secret: ", "repeat it: "], "Replace its secret? (yes/no) "),
            ("latchkey rm a/b", [], "Continue? (yes/no) "),
        ] {
            let terminal = try Terminal(shell, command)
            for prompt in prompts {
                try terminal.expect(prompt)
                terminal.type("two\n")
            }
            try terminal.expect(question)
            terminal.type("no\n")
            let ended = terminal.end()
            #expect(ended.status == 128 && ended.shown.contains("nothing was changed"), "\(ended)")
            #expect(try shell.run("latchkey get a/b").output == "one")
        }
        let deleting = try Terminal(shell, "latchkey rm a/b")
        try deleting.expect("(yes/no) ")
        deleting.type("yes\n")
        #expect(deleting.end().status == 0)
        #expect(try shell.run("latchkey get a/b").exit == 44)
    }

    @Test("copy sets the clipboard of the terminal, and clears it after the timeout")
    func clipboard() throws {
        let shell = try Shell()
        #expect(try shell.run("printf s3cret | latchkey set a/b").exit == 0)
        let terminal = try Terminal(shell, "TERM=xterm latchkey copy --timeout 1 a/b; echo copied; read -r line")
        try terminal.expect("\u{1B}]52;c;czNjcmV0\u{7}")
        // The process that clears is in a session of its own, and writes to the same terminal.
        try terminal.expect("\u{1B}]52;c;IA==\u{7}\u{1B}]52;c;\u{7}")
        terminal.type("\n")
        #expect(terminal.end().status == 0)
    }

    @Test("a terminal that closes during the prompt changes nothing")
    func closed() throws {
        let shell = try Shell()
        let terminal = try Terminal(shell, "latchkey passcode set")
        try terminal.expect("new passcode: ")
        terminal.type("half a passcode")
        terminal.close()
        #expect(try shell.run("latchkey status --json | grep '\"passcode\"'").output == "  \"passcode\" : false,\n")
    }
}

/// A command on a pseudo-terminal.
private final class Terminal {
    private let process = Process()
    private let keyboard = Pipe()
    private let screen = Pipe()
    private var shown = ""

    init(_ shell: Shell, _ command: String) throws {
        process.executableURL = URL(filePath: "/usr/bin/script")
        process.arguments = ["-qefc", command, "/dev/null"]
        process.environment = shell.environment.merging(["SHELL": "/bin/sh"]) { $1 }
        process.standardInput = keyboard
        process.standardOutput = screen
        process.standardError = screen
        try process.start()
    }

    /// Waits until the terminal shows this text.
    func expect(_ text: String) throws {
        while !shown.contains(text) {
            let more = screen.fileHandleForReading.awaitContent()
            try #require(!more.isEmpty, "the command ended; it showed: \(shown)")
            shown += String(decoding: more, as: UTF8.self)
        }
        // Text that was found is not matched again.
        shown = String(shown[shown.range(of: text).map(\.upperBound).map { $0... } ?? shown.startIndex...])
    }

    func type(_ text: String) {
        keyboard.fileHandleForWriting.write(Data(text.utf8))
    }

    /// Closes the terminal, as when its window is closed.
    func close() {
        kill(process.processIdentifier, SIGKILL)
        process.awaitExit()
    }

    func end() -> (status: Int32, shown: String) {
        let rest = screen.fileHandleForReading.awaitEnd()
        return (process.awaitExit(), shown + String(decoding: rest, as: UTF8.self))
    }
}
