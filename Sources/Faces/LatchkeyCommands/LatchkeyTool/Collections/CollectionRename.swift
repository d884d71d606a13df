// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyService
internal import LinuxSystem

/// `latchkey collection rename`.
struct CollectionRename: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "rename", abstract: "Give a collection another label.",
        discussion: """
            Its name, and with it the paths and the access group of its passwords, stay.

            EXAMPLES:
              latchkey collection rename Work Office
            """)

    @Argument(help: ArgumentHelp("The name of the collection.", valueName: "name"))
    var name: String

    @Argument(help: ArgumentHelp("The label that programs show from now on.", valueName: "label"))
    var label: String

    func run(in session: CommandSession) throws(CommandFailure) {
        let name = try CollectionName(argument: name)
        let collections = try session.collections()
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) -> Void in
            try collections.rename(name, to: label)
        }
        session.io.say("latchkey: the collection \(name.text) is renamed to \(label)\n")
    }
}
