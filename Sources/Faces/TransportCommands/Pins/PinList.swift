// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyCommands
internal import LinuxSystem

/// `latchkey pin list`.
struct PinList: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the stored pins.",
        discussion: """
            EXAMPLES:
              latchkey pin list
              latchkey pin list --json | jq '.[] | select(.origin == "firstUse")'
            """)

    @Option(help: ArgumentHelp("Only the pins of this access group.", valueName: "group"))
    var accessGroup: String?

    @Flag(help: "Print JSON, an array.")
    var json = false

    @OptionGroup var passcode: PasscodeOptions

    func run(in session: CommandSession) throws(CommandFailure) {
        passcode.unlockOnDemand(in: session)
        let records = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try StoredPins(accessGroup: accessGroup).all()
        }
        let reports = records.map(PinRecordReport.init)
        try session.write(json ? try JSONText.of(reports) : reports.map(\.text).joined())
    }
}
