// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

/// Questions on a real terminal: a pseudo-terminal that script(1) makes.
@Suite("At a terminal")
struct TerminalTests {
    @Test("-w without a value asks twice, shows nothing of the answers, and stores what was typed")
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

    @Test("answers that differ store nothing")
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

    @Test("Ctrl-C ends the question, stores nothing, and gives the terminal its echo back")
    func interrupt() throws {
        let shell = try Shell()
        let terminal = try Terminal(shell, "security add-generic-password -a a -s s -w; echo \"status $?\"; stty -a | grep -o ' -\\?echo '")
        try terminal.expect("password data for new item: ")
        terminal.type("half\u{3}")
        let ended = terminal.end()
        #expect(ended.shown.contains("status 128"), "\(ended.shown)")
        #expect(ended.shown.contains(" echo "), "\(ended.shown)")
        #expect(!ended.shown.contains("half"))
        #expect(try shell.run("security find-generic-password -w").exit == 44)
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
        try process.run()
    }

    /// Waits until the terminal shows this text.
    func expect(_ text: String) throws {
        while !shown.contains(text) {
            let more = screen.fileHandleForReading.availableData
            try #require(!more.isEmpty, "the command ended; it showed: \(shown)")
            shown += String(decoding: more, as: UTF8.self)
        }
        // What was found is not found again.
        shown = String(shown[shown.range(of: text).map(\.upperBound).map { $0... } ?? shown.startIndex...])
    }

    func type(_ text: String) {
        keyboard.fileHandleForWriting.write(Data(text.utf8))
    }

    func end() -> (status: Int32, shown: String) {
        let rest = screen.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, shown + String(decoding: rest, as: UTF8.self))
    }
}
