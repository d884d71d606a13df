// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import LatchkeyCommands
internal import LinuxSystem
internal import SecretServiceClient
internal import SystemBus

/// `latchkey-import owner`, for `latchkey status`, `latchkey doctor` and `latchkey setup`.
struct ServiceOwner: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "owner", abstract: "Print the program that is the Secret Service of the session bus, as JSON.",
        discussion: """
            EXAMPLES:
              latchkey-import owner
            """)

    @Flag(help: "Let the bus read the files of its services again, and start the Secret Service if none runs.")
    var start = false

    @Option(help: ArgumentHelp("The D-Bus address of another bus than the session's.", valueName: "address"))
    var bus: String?

    func run(in session: CommandSession) throws(CommandFailure) {
        let address = bus.map { BusAddress.custom($0) } ?? .session
        let found = try ImportFailure.mapErrors(.gnomeKeyring) { () throws(SecretServiceClientError) in
            start ? try SecretServiceOwner.started(on: address) : try SecretServiceOwner.current(on: address)
        }
        let owner = found.map { found in
            SecretServiceStatus.Owner(
                process: found.program.process, program: found.program.executable, isLatchkey: found.isOwn)
        }
        try session.write(try JSONText.of(SecretServiceStatus(owner: owner)))
    }
}
