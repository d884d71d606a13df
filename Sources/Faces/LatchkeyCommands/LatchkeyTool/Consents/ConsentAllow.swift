// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Glibc
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyService
internal import LinuxSystem

/// `latchkey consent allow`.
struct ConsentAllow: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "allow", abstract: "Let a program read every item without a question.",
        discussion: """
            The path is that of the executable, as 'readlink /proc/PID/exe' shows it. An interpreter such as \
            /usr/bin/python3.11 has one path for all its scripts.

            EXAMPLES:
              latchkey consent allow /usr/bin/seahorse
            """)

    @Argument(help: ArgumentHelp("The path of the program.", valueName: "program"), completion: .file())
    var program: String

    func run(in session: CommandSession) throws(CommandFailure) {
        let resolved = Self.resolved(program)
        let path = try ProgramPath(argument: resolved ?? program)
        let consents = try session.consents()
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) -> Void in
            try consents.add([Consent(path, .everyItem)])
        }
        session.io.say("latchkey: \(path.text) may read every item\n")
        if resolved == nil { session.io.say("hint: there is no such program now\n") }
    }

    /// Returns the path that the process of a program has: without symbolic links; nil for a missing file.
    private static func resolved(_ path: String) -> String? {
        guard path.hasPrefix("/"), let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(validatingCString: found)
    }
}
