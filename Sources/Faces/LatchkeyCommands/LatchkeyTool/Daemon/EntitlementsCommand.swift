// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem

/// `latchkey entitlements`.
struct EntitlementsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.entitlements.rawValue, abstract: LatchkeySubcommand.entitlements.abstract,
        discussion: """
            EXAMPLES:
              latchkey entitlements show app.entitlements
              latchkey entitlements show /usr/bin/app
            """,
        subcommands: [EntitlementsShow.self])
}

/// `latchkey entitlements show`.
struct EntitlementsShow: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the access groups that a file gives to a program.",
        discussion: """
            The file is a property list of entitlements, in XML or binary, an Info.plist, or an executable with or \
            without such files beside it. New items are stored in the first group. The command exits with 1 if the \
            program has no group.

            EXAMPLES:
              latchkey entitlements show app.entitlements
              latchkey entitlements show --json /usr/bin/app | jq -r '.groups[].name'
            """)

    @Argument(help: ArgumentHelp("The property list or the executable.", valueName: "file"), completion: .file())
    var path: FilePath

    @Flag(help: "Print JSON.")
    var json = false

    func run(in session: CommandSession) throws(CommandFailure) {
        let report = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try ProgramIdentity.report(on: AbsolutePath.of(path).description)
        }
        let shown = CallerCommandReport(report)
        try session.write(json ? try JSONText.of(shown) : shown.text)
        guard !shown.groups.isEmpty else { throw .reported(1) }
    }
}
