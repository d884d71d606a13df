// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyService
internal import LinuxSystem

/// `latchkey collection create`.
struct CollectionCreate: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Create a collection, and print its name.",
        discussion: """
            The name resembles the label and never changes; if others have it, it gets a number.

            EXAMPLES:
              latchkey collection create Work
              latchkey collection create --json 'Mail passwords'
            """)

    @Argument(help: ArgumentHelp("The label that programs show.", valueName: "label"))
    var label: String

    @Flag(help: "Print JSON.")
    var json = false

    func run(in session: CommandSession) throws(CommandFailure) {
        let collections = try session.collections()
        let created = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try collections.create(label: label)
        }
        if json { return try session.write(JSONText.of(CollectionReport(created, items: 0, isDefault: false))) }
        try session.write("\(created.name.text)\n")
    }
}
