// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LatchkeyCommands
import Testing

/// The built executable: arguments, standard streams and exit values as a shell sees them.
@Suite("The process")
struct ProcessTests {
    @Test("the main job, called as security through a link")
    func mainJob() throws {
        let shell = try Shell()
        let outcome = try shell.run(
            """
            security add-generic-password -a alice -s example.com -w s3cret -U \
            && security find-generic-password -a alice -s example.com -w
            security find-generic-password -a bob; echo "missing $?"
            security add-generic-password -a alice -s example.com -w other; echo "duplicate $?"
            """)
        #expect(outcome.output == "s3cret\nmissing 44\nduplicate 45\n")
    }

    @Test("a password comes through a pipe and leaves through one, byte for byte")
    func pipes() throws {
        let shell = try Shell()
        let outcome = try shell.run(
            """
            printf 'from the pipe\\nmore' | security add-generic-password -a a -s s -w
            security find-generic-password -s s -w
            security add-generic-password -a b -s s -w "$(printf '\\377x')" && security find-generic-password -a b -w
            printf 'add-generic-password -U -s s -a c -w "quoted one"\\nfind-generic-password -a c -w\\n' | security -i
            security find-generic-password -a nobody 2>/dev/null | wc -c
            """)
        #expect(outcome == Outcome(exit: 0, output: "from the pipe\nff78\nquoted one\n0\n", error: ""))
    }

    @Test("output that does not fit is a failure")
    func fullDevice() throws {
        let shell = try Shell()
        let outcome = try shell.run(
            "security add-generic-password -a a -s s -w x; security find-generic-password -w > /dev/full; echo $?")
        #expect(outcome.output == "220\n")
        #expect(outcome.error == "security: cannot write the output: No space left on device\n")
    }

    @Test("status makes a keychain where there is none, and says so once")
    func newKeychain() throws {
        let shell = try Shell()
        let first = try shell.run("latchkey status")
        #expect(first.exit == 0 && first.output.contains("mode:        embedded"))
        #expect(first.error == "latchkey: there was no keychain; a new one was made\n")
        #expect(try shell.run("latchkey status").error == "")
    }

    @Test("a keychain that others can read is refused with the command that mends it")
    func widePermissions() throws {
        let shell = try Shell()
        let outcome = try shell.run(
            """
            latchkey status >/dev/null 2>&1; chmod 755 "$LATCHKEY_HOME/data"
            security list-keychains; echo $?
            latchkey doctor
            """)
        #expect(outcome.exit == 1)
        #expect(outcome.output.hasPrefix("53\nWRONG    keychain: "))
        #expect(outcome.error.contains("hint: ") && outcome.error.contains("chmod"))
    }
}

/// A shell that finds `latchkey` and `security`, on a keychain of its own.
private struct Shell {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        for name in ["latchkey", "security"] {
            try FileManager.default.createSymbolicLink(
                atPath: "\(directory.path)/\(name)", withDestinationPath: Executable.path("latchkey"))
        }
    }

    func run(_ script: String) throws -> Outcome {
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = ["-c", script]
        shell.environment = ["PATH": "\(directory.path):/usr/bin:/bin", "LATCHKEY_HOME": "\(directory.path)/home"]
        let (output, error) = ("\(directory.path)/output", "\(directory.path)/error")
        for path in [output, error] { try Data().write(to: URL(filePath: path)) }
        shell.standardInput = FileHandle.nullDevice
        shell.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
        shell.standardError = try FileHandle(forWritingTo: URL(filePath: error))
        try shell.run()
        shell.waitUntilExit()
        return Outcome(
            exit: shell.terminationStatus, output: try String(contentsOfFile: output, encoding: .utf8),
            error: try String(contentsOfFile: error, encoding: .utf8))
    }
}
