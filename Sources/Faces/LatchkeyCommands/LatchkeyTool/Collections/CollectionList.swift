// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyService
internal import LinuxSystem

/// `latchkey collection list`.
struct CollectionList: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the collections, and their content.",
        discussion: """
            Each line has the name, the label, the number of passwords and the date of creation, separated by tabs. \
            The default collection, for the passwords of programs that name none, is marked. A collection program.NAME \
            has the passwords of a program; only the program changes it. Passwords with an access control that needs \
            you are not counted.

            EXAMPLES:
              latchkey collection list
              latchkey collection list --json | jq -r '.[].name'
            """)

    @Flag(help: "Print JSON.")
    var json = false

    func run(in session: CommandSession) throws(CommandFailure) {
        let collections = try session.collections()
        let reports = try CommandFailure.mapErrors(nil) { () throws(KeychainError) -> [CollectionReport] in
            let defaultName = try collections.defaultName()
            var reports: [CollectionReport] = []
            for collection in try collections.all() + collections.ofPrograms() {
                let count = try collections.passwordCount(in: collection.name)
                reports.append(CollectionReport(collection, items: count, isDefault: collection.name == defaultName))
            }
            return reports
        }
        if json { return try session.write(JSONText.of(reports)) }
        for report in reports { try session.write(report.line) }
    }
}

extension CollectionReport {
    fileprivate var line: TerminalText {
        let mark: TerminalText = isDefault ? "\tdefault" : ""
        return "\(name)\t\(label)\t\(items)\t\(created ?? "-")\(mark)\n"
    }
}
