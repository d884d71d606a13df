// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem

/// `latchkey who`.
struct WhoCommand: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.who.rawValue, abstract: LatchkeySubcommand.who.abstract,
        discussion: """
            Shows the identity of this command as a caller of the keychain, how each fact was established, and the \
            access groups that follow. Claimed facts separate the programs of one user by policy only; attested facts \
            are guaranteed by the kernel and the administrator.

            EXAMPLES:
              latchkey who
              latchkey who --json | jq '.groups[].name'
            """)

    @Flag(help: "Print JSON.")
    var json = false

    func run(in session: CommandSession) throws(CommandFailure) {
        let report = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            CallerCommandReport(try Self.keychain().callerReport())
        }
        try session.write(json ? try JSONText.of(report) : report.text)
    }

    /// Returns the keychain. If there is none yet, returns one in memory, because it determines the same caller
    /// identity and no keychain is created.
    private static func keychain() throws(KeychainError) -> KeychainSession {
        guard try KeychainClient.missingHome() != nil else { return try KeychainClient.session() }
        return KeychainSession(try EmbeddedService(), as: KeychainClient.caller)
    }
}

/// The report of `latchkey who`, in the shape of its JSON.
struct CallerCommandReport: Encodable {
    var facts: [Fact]
    var groups: [Group]
    /// Whether the caller has every group of the same grade.
    var hasAllGroups: Bool
    var reason: String

    struct Fact: Encodable {
        var name: String
        var value: String
        /// `claimed` or `attested`.
        var grade: String
        var source: String
    }

    struct Group: Encodable {
        var name: String
        var grade: String
    }

    init(_ report: CallerReport) {
        facts = report.facts.map { Fact(name: $0.name, value: $0.value, grade: "\($0.grade)", source: $0.source) }
        groups = report.groups.map { Group(name: $0.name, grade: "\($0.grade)") }
        hasAllGroups = report.hasAllGroups
        reason = report.reason
    }

    var text: TerminalText {
        let width = (facts.map(\.name.count) + [6]).max() ?? 0
        func row(_ name: String, _ value: TerminalText) -> TerminalText {
            "\(name)\(name.isEmpty ? " " : ":")\(TerminalText.spaces(width - name.count + 1))\(value)\n"
        }
        var text = facts.map { row($0.name, "\($0.value) (\($0.grade): \($0.source))") }.joined()
        let names: [TerminalText] =
            groups.map { "\($0.name) (\($0.grade))" } + (hasAllGroups ? ["every other group of the same grade"] : [])
        text += names.isEmpty ? row("groups", "none") : ""
        for (index, name) in names.enumerated() { text += row(index == 0 ? "groups" : "", name) }
        return text + row("why", "\(reason)")
    }
}
