// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyService
internal import LinuxSystem

/// `latchkey collection delete`.
struct CollectionDelete: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a collection with everything in it.",
        discussion: """
            Asks before it deletes; without a terminal it requires --force. The keychain must be unlocked. Every \
            keychain has the collection login, and it cannot be deleted.

            EXAMPLES:
              latchkey collection delete --dry-run Work
              latchkey collection delete Work
              latchkey collection delete --force --json Work
            """)

    @Argument(help: ArgumentHelp("The name of the collection.", valueName: "name"))
    var name: String

    @Flag(name: .shortAndLong, help: "Delete without a question.")
    var force = false

    @Flag(name: [.customShort("n"), .long], help: "Only show how many passwords would be deleted.")
    var dryRun = false

    @Flag(help: "Print JSON.")
    var json = false

    func run(in session: CommandSession) throws(CommandFailure) {
        let name = try CollectionName(argument: name)
        let collections = try session.collections()
        let count = try CommandFailure.mapErrors(nil) { () throws(KeychainError) -> Int in
            try collections.requireDeletable(name)
            return try collections.passwordCount(in: name)
        }
        if dryRun { return try report(count, in: session) }
        if !force { try confirm(name, count, in: session) }
        let deleted = try CommandFailure.mapErrors(nil) { () throws(KeychainError) -> Int in
            try collections.delete(name)
        }
        try report(deleted, in: session)
    }

    /// - Throws: errSecUserCanceled for any answer but yes, errSecParam if there is no terminal.
    private func confirm(_ name: CollectionName, _ count: Int, in session: CommandSession) throws(CommandFailure) {
        guard session.io.isInputInteractive else {
            throw .parameter(
                "the collection would be deleted, but no terminal is available for confirmation",
                hint: "--force deletes without a question; --dry-run shows the deletions")
        }
        try session.confirm("the collection \(name.text) and its \(Self.items(count)) will be deleted. Continue?")
    }

    private func report(_ count: Int, in session: CommandSession) throws(CommandFailure) {
        if json {
            return try session.write(JSONText.of(CollectionDeletion(deleted: !dryRun, items: count)))
        }
        let verb: TerminalText = dryRun ? "would be deleted" : "is deleted"
        session.io.say("latchkey: the collection \(name) \(verb), with \(Self.items(count))\n")
    }

    private static func items(_ count: Int) -> TerminalText { count == 1 ? "1 item" : "\(count) items" }
}

/// The result of a deletion or of its dry run, in the shape of its JSON.
private struct CollectionDeletion: Encodable {
    var deleted: Bool
    /// How many items were deleted, or would be.
    var items: Int
}
