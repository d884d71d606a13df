// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
@testable import LatchkeyCommands
import Testing

/// `latchkey copy`.
@Suite("Clipboard")
struct ClipboardTests {
    @Test("the way to the clipboard depends on the environment and the installed programs", arguments: Choice.all)
    func chooses(choice: Choice) {
        let found = Clipboard.choose(
            variable: { choice.variables[$0] }, isInstalled: choice.programs.contains, hasTerminal: choice.hasTerminal)
        #expect(found == choice.expected)
    }

    struct Choice: Sendable, CustomTestStringConvertible {
        let variables: [String: String]
        let programs: Set<String>
        let hasTerminal: Bool
        let expected: Clipboard?

        init(_ variables: [String: String], _ programs: Set<String>, _ hasTerminal: Bool, _ expected: Clipboard?) {
            self.variables = variables
            self.programs = programs
            self.hasTerminal = hasTerminal
            self.expected = expected
        }

        var testDescription: String { "\(variables) \(programs) \(hasTerminal)" }

        private static let tools: Set = ["wl-copy", "xclip", "xsel"]
        static let all = [
            Choice(["WAYLAND_DISPLAY": "w", "DISPLAY": "d", "TERM": "xterm"], tools, true, .wlCopy),
            Choice(["WAYLAND_DISPLAY": "w", "DISPLAY": "d"], ["xclip", "xsel"], false, .xclip),
            Choice(["DISPLAY": "d"], tools, false, .xclip), Choice(["DISPLAY": "d"], ["xsel"], true, .xsel),
            Choice(["DISPLAY": "d", "TERM": "xterm"], [], true, .osc52),
            Choice(["TERM": "xterm"], tools, true, .osc52), Choice(["TERM": "xterm"], tools, false, nil),
            Choice(["TERM": "dumb"], tools, true, nil), Choice(["TERM": "linux"], tools, true, nil),
            Choice([:], tools, true, nil),
            Choice(["DISPLAY": "d", "TERM": "xterm", "SSH_CONNECTION": "a b"], tools, true, .osc52),
            Choice(["DISPLAY": "d", "TERM": "xterm", "SSH_TTY": "t"], tools, true, .osc52),
            Choice(["DISPLAY": "d", "SSH_TTY": "t"], tools, false, .xclip),
        ]
    }

    // MARK: The terminal

    @Test("OSC 52 sends the secret in base64 to the terminal")
    func terminal() throws {
        let keychain = try TestKeychain(.ephemeral)
        keychain.latchkey("set a/b", io: TestIO(input: ["s3cret"]))
        #expect(
            keychain.latchkey("copy --using osc52 --timeout 0 a/b", io: TestIO(isErrorInteractive: true))
                == Outcome(
                    exit: 0, output: "\u{1B}]52;c;czNjcmV0\u{7}",
                    error: "latchkey: copied a/b to the clipboard (osc52); it is not cleared\n"))
    }

    @Test("an impossible copy is refused with its reason, and nothing is sent")
    func refuses() throws {
        let keychain = try TestKeychain(.ephemeral)
        for (account, secret) in [("text", "s3cret"), ("control", "\u{1B}[2J"), ("empty", ""), ("long", Self.long)] {
            keychain.security([
                "add-generic-password", "-s", "a", "-a", CommandWord(account), "-w", CommandWord(secret),
            ])
        }
        for (words, isTerminal, exit, problem) in [
            ("--using osc52 --timeout 0 a/text", false, 53, "no output is a terminal"),
            ("--using osc52 --timeout 0 a/control", true, 206, "cannot be pasted"),
            ("--using osc52 --timeout 0 a/empty", true, 206, "the secret is empty"),
            ("--using osc52 --timeout 0 a/long", true, 206, "a terminal takes at most"),
            ("--using osc52 --timeout 0 a/missing", true, 44, "could not be found"),
            ("--using osc52 --timeout 0", true, 2, "name an item"),
            // These streams do not belong to a process, so a second process could not clear the clipboard later.
            ("--using osc52 a/text", true, 206, "only the process itself"),
            ("--timeout -1 a/text", true, 2, "--timeout"), ("--timeout 86401 a/text", true, 2, "--timeout"),
            ("--using pigeon a/text", true, 2, "--using"),
        ] as [(String, Bool, Int32, String)] {
            let outcome = keychain.latchkey("copy \(words)", io: TestIO(isErrorInteractive: isTerminal))
            #expect(outcome.exit == exit && outcome.output.isEmpty, "\(words): \(outcome)")
            #expect(outcome.error.contains(problem), "\(words): \(outcome)")
        }
    }

    private static let long = String(repeating: "x", count: Clipboard.maxTerminalLength + 1)

    // MARK: Programs

    @Test(
        "copy passes the secret through a pipe only, and clears the clipboard after the timeout", .long,
        arguments: [
            ("wl-copy", "WAYLAND_DISPLAY", "--type text/plain", "--clear"),
            ("xclip", "DISPLAY", "-selection clipboard -in", "-selection clipboard -in"),
            ("xsel", "DISPLAY", "--clipboard --input", "--clipboard --clear"),
        ])
    func clears(program: String, variable: String, copying: String, clearing: String) throws {
        let shell = try Self.shell(program)
        let outcome = try shell.run(
            """
            export \(variable)=x
            printf s3cret | latchkey set a/b 2> /dev/null
            latchkey copy --timeout 1 a/b
            \(Self.awaitEnd)
            cat "$PASS.log"; cat "$PASS.clip"; grep -c s3cret "$PASS.env"
            """)
        let reading =
            ["wl-copy": "wl-paste --no-newline", "xclip": "xclip -selection clipboard -out"][program]
            ?? "xsel --clipboard --output"
        #expect(
            outcome.output == """
                run \(program) \(copying)
                got <s3cret>
                run \(reading)
                run \(program) \(clearing)
                got <>
                0

                """)
        #expect(
            outcome.error == "latchkey: copied a/b to the clipboard (\(program)); it is cleared after 1 s\n")
    }

    @Test("the clipboard is cleared also if copy is killed while it copies")
    func killed() throws {
        let shell = try Self.shell("xclip", afterCopying: "kill -KILL $PPID")
        let outcome = try shell.run(
            """
            export DISPLAY=x
            printf s3cret | latchkey set a/b 2> /dev/null
            latchkey copy --timeout 1 a/b; echo $?
            \(Self.awaitEnd)
            grep got "$PASS.log"; cat "$PASS.clip"
            """)
        #expect(outcome.output == "137\ngot <s3cret>\ngot <>\n", "\(outcome)")
    }

    @Test("copy leaves the clipboard as it is if its content has changed meanwhile, or with --timeout 0")
    func leaves() throws {
        // The descriptor 3 is inherited by the process that clears, so that its end can be awaited.
        let shell = try Self.shell("wl-copy")
        let outcome = try shell.run(
            """
            export WAYLAND_DISPLAY=x
            printf s3cret | latchkey set a/b 2> /dev/null
            printf other > "$PASS.other"
            mkfifo "$PASS.end"; cat "$PASS.end" > /dev/null & reader=$!
            latchkey copy --timeout 1 a/b 3> "$PASS.end" 2> /dev/null
            wait $reader
            cat "$PASS.clip"; echo; grep ^run "$PASS.log"
            latchkey copy --timeout 0 a/b 3> /dev/null
            """)
        #expect(
            outcome.output == """
                s3cret
                run wl-copy --type text/plain
                run wl-paste --no-newline

                """)
        #expect(outcome.error == "latchkey: copied a/b to the clipboard (wl-copy); it is not cleared\n")
    }

    @Test("without a clipboard, with a missing program and with one that fails, copy exits with 53", .long)
    func unavailable() throws {
        let shell = try Shell()
        let outcome = try shell.run(
            """
            printf s3cret | latchkey set a/b 2> /dev/null
            latchkey copy a/b; echo $?
            latchkey copy --using xsel a/b; echo $?
            printf '#!/bin/sh\\nexit 3\\n' > "$(dirname "$PASS")/xsel"; chmod 755 "$(dirname "$PASS")/xsel"
            mkfifo "$PASS.end"; cat "$PASS.end" & reader=$!
            latchkey copy --using xsel --timeout 1 a/b 3> "$PASS.end"; echo $?
            wait $reader
            """)
        #expect(outcome.output == "53\n53\n53\n")
        let lines = outcome.error.split(separator: "\n").map(String.init)
        #expect(lines.count == 6 && lines[0].hasPrefix("latchkey: no clipboard is available: "))
        #expect(lines[1].contains("install wl-clipboard, xclip or xsel"))
        #expect(lines[2] == "latchkey: cannot run xsel: No such file or directory")
        #expect(lines[4] == "latchkey: xsel failed with exit value 3; nothing was copied")
        #expect(!outcome.error.contains("s3cret"))
    }

    /// Waits until the clipboard was cleared. This is the last of the calls.
    private static let awaitEnd = "await grep -qs ^end \"$PASS.log.end\""

    /// Returns a shell with a program for the clipboard that keeps the content in a file, and logs its arguments, its
    /// environment and its input.
    ///
    /// - Parameter afterCopying: the commands that the program runs after it has copied a text.
    private static func shell(_ program: String, afterCopying: String = ":") throws -> Shell {
        let shell = try Shell()
        let script = """
            #!/bin/sh
            echo "run $(basename "$0") $*" >> "$PASS.log"; env >> "$PASS.env"
            case "$*" in
            *-out*|*--no-newline*) cat "$PASS.other" 2> /dev/null || cat "$PASS.clip";;
            *) cat > "$PASS.clip"; echo "got <$(cat "$PASS.clip")>" >> "$PASS.log"
               if test -s "$PASS.clip"; then \(afterCopying); else echo end > "$PASS.log.end"; fi;;
            esac
            """
        for name in [program] + (program == "wl-copy" ? ["wl-paste"] : []) {
            let path = "\(shell.directory.path)/\(name)"
            try Data(script.utf8).write(to: URL(filePath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
        return shell
    }
}
