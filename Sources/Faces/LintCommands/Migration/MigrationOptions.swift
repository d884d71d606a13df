// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// The options of `latchkey lint --migrate`.
struct MigrationOptions: ParsableArguments {
    /// The text in the place of a secret.
    enum Rest: String, CaseIterable, ExpressibleByArgument {
        case reference, nothing
    }

    @Flag(help: "Move the secrets that can be replaced in their files into the keychain.")
    var migrate = false

    @Option(
        help: ArgumentHelp(
            "The text in the place of a secret: 'reference' (latchkey://SERVICE/ACCOUNT) or 'nothing'.",
            valueName: "reference|nothing"))
    var leave: Rest?

    @Option(
        help: ArgumentHelp(
            "The service of the items that --migrate makes; the default is the name of the file's folder.",
            valueName: "service"))
    var service: String?

    @Flag(name: [.customShort("n"), .long], help: "With --migrate: show the changes, and make none.")
    var dryRun = false

    @Flag(help: "With --migrate: do not ask.")
    var yes = false

    /// Whether files are changed.
    var moves: Bool { migrate && !dryRun }

    var rest: Rest { leave ?? .reference }

    func validate() throws {
        guard migrate || leave == nil && service == nil && !dryRun && !yes else {
            throw ValidationError("--leave, --service, --dry-run and --yes belong to --migrate")
        }
        if service?.isEmpty == true { throw ValidationError("the service is empty") }
    }
}
