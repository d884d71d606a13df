// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyService
internal import LinuxSystem

/// `latchkey consent list`.
struct ConsentList: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the programs that may read items without a question.",
        discussion: """
            Each line has the path of the program, the item and the date of the consent, separated by tabs. The \
            oldest is the first. An item has no label while the keychain is locked.

            EXAMPLES:
              latchkey consent list
              latchkey consent list --json | jq -r '.[].program'
            """)

    @Flag(help: "Print JSON.")
    var json = false

    func run(in session: CommandSession) throws(CommandFailure) {
        let consents = try session.consents()
        let reports = try CommandFailure.mapErrors(nil) { () throws(KeychainError) -> [ConsentReport] in
            var reports: [ConsentReport] = []
            for entry in try consents.all() {
                var report = ConsentReport(entry)
                if case .item(let identifier) = entry.consent.scope {
                    report.describe(try consents.item(identifier))
                }
                reports.append(report)
            }
            return reports
        }
        if json { return try session.write(JSONText.of(reports)) }
        for report in reports { try session.write(report.line) }
    }
}

/// A consent, in the shape of the command's JSON.
struct ConsentReport: Encodable {
    var program: String
    /// `every`, `item`, `locked` or `deleted`.
    var scope: String
    /// The label of the item; absent for every item, and if it is not known.
    var item: String?
    /// UTC, as `2026-11-22T12:00:00Z`.
    var created: String

    init(_ entry: KeychainConsent) {
        program = entry.consent.program.text
        scope = entry.consent.scope == .everyItem ? "every" : "item"
        created = Date(timeIntervalSinceReferenceDate: entry.created).formatted(.iso8601)
    }

    mutating func describe(_ item: ConsentedItem) {
        switch item {
        case .named(let label): self.item = label
        case .locked: scope = "locked"
        case .missing: scope = "deleted"
        }
    }

    fileprivate var line: TerminalText {
        let what: TerminalText =
            switch scope {
            case "every": "(every item)"
            case "item": "\(item ?? "")"
            default: "(\(scope) item)"
            }
        return "\(program)\t\(what)\t\(created)\n"
    }
}
