// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyCommands
internal import LinuxSystem
internal import TransportPolicy

/// `latchkey pin remove`.
struct PinRemove: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Delete the stored pins of a host.",
        discussion: """
            Programs that require pins for the host then make no connections to it.

            EXAMPLES:
              latchkey pin remove api.example.com
              latchkey pin remove --dry-run api.example.com
            """)

    @Option(help: ArgumentHelp("The access group of the item.", valueName: "group"))
    var accessGroup: String?

    @Flag(name: [.customShort("n"), .long], help: "Only show the pins that would be deleted.")
    var dryRun = false

    @OptionGroup var passcode: PasscodeOptions

    @Argument(help: ArgumentHelp("The domain of the pins.", valueName: "host"))
    var host: String

    func run(in session: CommandSession) throws(CommandFailure) {
        passcode.unlockOnDemand(in: session)
        let domain = try PinAdd.parsed { () throws(TransportPolicyError) in try DomainName(host) }
        let stored = StoredPins(accessGroup: accessGroup)
        if dryRun {
            let record = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try stored.pins(of: domain) }
            guard let record else {
                throw .status(
                    KeychainError(.itemNotFound, "\(domain) has no stored pins", hint: "latchkey pin list"))
            }
            return try session.write("would delete \(PinText.line(record))\n")
        }
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try stored.remove(domain) }
        session.io.say("latchkey: deleted the pins of \(domain)\n")
    }
}
