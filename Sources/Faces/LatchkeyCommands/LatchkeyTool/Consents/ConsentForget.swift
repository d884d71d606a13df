// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyService
internal import LinuxSystem

/// `latchkey consent forget`.
struct ConsentForget: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Revoke the consent for a program.",
        discussion: """
            From now on, you are asked about the program again. A program reads the items that it has stored without a \
            question, unless you want one every time: 'latchkey settings consent always'.

            EXAMPLES:
              latchkey consent forget /usr/bin/seahorse
              latchkey consent forget --all
            """)

    @Argument(help: ArgumentHelp("The path of the program.", valueName: "program"), completion: .file())
    var program: String?

    @Flag(help: "Revoke the consents of all programs.")
    var all = false

    func validate() throws {
        guard (program == nil) == all else { throw ValidationError("expected the path of a program, or --all") }
    }

    func run(in session: CommandSession) throws(CommandFailure) {
        let consents = try session.consents()
        var path: ProgramPath?
        if let program { path = try ProgramPath(argument: program) }
        let subject = path
        let count = try CommandFailure.mapErrors(nil) { () throws(KeychainError) -> Int in
            let count = try consents.remove(subject)
            guard count > 0 || subject == nil else { throw Self.missing }
            return count
        }
        let number: TerminalText = count == 1 ? "1 consent is" : "\(count) consents are"
        session.io.say("latchkey: \(number) revoked\n")
    }

    private static let missing = KeychainError(
        .itemNotFound, "the program has no consent", hint: "latchkey consent list")
}
