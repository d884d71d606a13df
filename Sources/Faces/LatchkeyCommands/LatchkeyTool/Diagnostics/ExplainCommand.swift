// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LinuxSystem

/// `latchkey explain`.
struct ExplainCommand: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.explain.rawValue,
        abstract: LatchkeySubcommand.explain.abstract,
        discussion: """
            An error is an identifier such as LK1201 (latchkey prints it on a terminal and with -v), the name or the \
            number of a status, such as errSecItemNotFound or -25300, or the exit value of a command. Without an \
            error, lists all identifiers.

            EXAMPLES:
              latchkey explain LK1201
              latchkey explain errSecItemNotFound
              latchkey explain -25300
              security find-generic-password -s example.com; latchkey explain $?
              latchkey explain --json
            """)

    @Flag(help: "Print JSON.")
    var json = false

    // A number below zero looks like an option.
    @Argument(
        parsing: .allUnrecognized,
        help: ArgumentHelp("Identifiers, statuses, or exit values.", valueName: "error"),
        completion: .list(ErrorIdentifier.allCases.map(\.description)))
    var errors: [String] = []

    func run(in session: CommandSession) throws(CommandFailure) {
        // With such parsing, the end of options is among the words.
        let words = errors.filter { $0 != "--" }
        var chosen: [ErrorExplanation] = []
        var values: [ExitValueExplanation] = []
        for word in words {
            let value = ExitValueExplanation.all.first { word == "\($0.value)" }
            if let value {
                if !values.contains(where: { $0.value == value.value }) { values.append(value) }
                continue
            }
            let found = try Self.explanations(of: word)
            chosen += found.filter { one in !chosen.contains { $0.identifier == one.identifier } }
        }
        if json {
            let reports = (words.isEmpty ? ErrorExplanation.all : chosen).map(ErrorReport.init)
            return try session.write(try JSONText.of(reports + values.map(ErrorReport.init)))
        }
        guard words.isEmpty else {
            return try session.write((chosen.map(\.text) + values.map(\.text)).joined(separator: "\n"))
        }
        try session.write(ErrorExplanation.all.map { "\($0.identifier)  \($0.title)\n" as TerminalText }.joined())
    }

    private static func explanations(of word: String) throws(CommandFailure) -> [ErrorExplanation] {
        let identifiers = self.identifiers(of: word)
        guard !identifiers.isEmpty else {
            throw .parameter(
                "'\(word)' is no identifier of an error, no status and no exit value",
                hint: "latchkey explain lists the identifiers")
        }
        return ErrorExplanation.all.filter { identifiers.contains($0.identifier) }
    }

    /// The identifiers that a word can mean: several, if it is an exit value that several statuses have.
    private static func identifiers(of word: String) -> Set<ErrorIdentifier> {
        if let identifier = ErrorIdentifier(word) { return [identifier] }
        let name = word.lowercased()
        let entry = OSStatusCode.all.first { $0.name.lowercased() == name || "\($0.code.rawValue)" == word }
        if let entry, entry.code != .success { return [ErrorIdentifier(entry.code)] }
        guard let value = UInt8(word), value > 0 else { return [] }
        let known = ErrorIdentifier.allCases.filter { identifier in
            identifier.statuses.contains { $0.exitCode == value }
        }
        return Set(known).union(value == CommandFailure.usageExitValue ? [.usage] : [])
    }
}

extension ErrorExplanation {
    /// The first of the identifier's statuses; all have the same exit value.
    private var status: OSStatusCode? { identifier.statuses.first }

    /// The exit value of the commands; nil if there are several.
    var exitValue: UInt8? { status?.exitCode ?? (identifier == .usage ? CommandFailure.usageExitValue : nil) }

    /// The explanation as text of several lines.
    fileprivate var text: TerminalText {
        let first: TerminalText = "\(identifier)  \(title)\n"
        let value: TerminalText = exitValue.map { "exit value \($0)\n" } ?? ""
        let status: TerminalText =
            self.status.map { "status: \($0), \(value)" } ?? (value == "" ? "" : "status: \(value)")
        let cause: TerminalText = "why:    \(self.cause)\n"
        return first + status + cause + steps.map { "do:     \($0)\n" as TerminalText }.joined()
    }
}

/// An identifier or an exit value, in the shape of its JSON.
private struct ErrorReport: Encodable {
    /// Absent for an exit value that has no status.
    var identifier: String?
    var title: String
    /// The name of the status; absent if there is none, or several.
    var status: String?
    var exitValue: UInt8?
    var cause: String
    var steps: [String]

    init(_ explanation: ErrorExplanation) {
        identifier = explanation.identifier.description
        title = explanation.title
        status = explanation.identifier.statuses.first?.name
        exitValue = explanation.exitValue
        cause = explanation.cause
        steps = explanation.steps
    }

    init(_ explanation: ExitValueExplanation) {
        exitValue = explanation.value
        title = explanation.title
        cause = explanation.cause
        steps = explanation.steps
    }
}
