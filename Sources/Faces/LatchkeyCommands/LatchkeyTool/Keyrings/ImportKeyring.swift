// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyClient
internal import LatchkeyService
internal import LinuxSystem
internal import SystemBus

/// `latchkey import --from …`.
struct ImportKeyring: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import the items of gnome-keyring or KWallet.",
        discussion: """
            Reads every collection of the Secret Service of the session bus, or a file of gnome-keyring, and adds the \
            items to the default keychain, with their attributes, labels, types and creation dates. A locked \
            collection is unlocked by the prompt of its program; without an answer, it is left out. The other keyring \
            is not changed.

            An item that the keychain has is equal. If the keychain has another secret for the same attributes, an \
            item is different, and the keychain keeps its own. Only new items are added, so that the same command \
            continues an import that was interrupted.

            The exit value is 0 if everything was read, also if items are different; 1 with --verify if the keychain \
            does not have every item; 36 if a collection stayed locked, 51 for a wrong password, 53 if there is no \
            service or it has ended, 93 for unreadable data, 206 if the service is another program.

            EXAMPLES:
              latchkey import --from gnome-keyring --dry-run
              latchkey import --from gnome-keyring
              latchkey import --from gnome-keyring --verify
              latchkey import --from gnome-keyring \\
                  --file ~/.local/share/keyrings/login.keyring
              latchkey import --from kwallet --json
            """,
        version: LatchkeyVersion.current)

    @Option(help: ArgumentHelp("The program: gnome-keyring or kwallet.", valueName: "keyring"))
    var from: KeyringOrigin

    @Option(
        help: ArgumentHelp("Read this file of gnome-keyring; - is standard input.", valueName: "path"),
        completion: .file())
    var file: FilePath?

    @Option(help: ArgumentHelp("The D-Bus address of another bus than the session's.", valueName: "address"))
    var bus: String?

    @Flag(name: [.customShort("n"), .long], help: "Only show the new, equal and different items.")
    var dryRun = false

    @Flag(help: "Change nothing, and exit with 1 unless the keychain has every item.")
    var verify = false

    @Option(help: ArgumentHelp("How long a prompt to unlock waits, 1 to 3600.", valueName: "seconds"))
    var unlockTimeout = 120

    @OptionGroup var password: KeyringPasswordOptions
    @OptionGroup var passcode: PasscodeOptions

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if file != nil, bus != nil { throw ValidationError("--file and --bus exclude each other") }
        if file != nil, from == .kwallet {
            throw ValidationError("files of KWallet are not read; without --file, its Secret Service is")
        }
        if file == nil, password.isGiven { throw ValidationError("a password is needed only with --file") }
        guard (1...3600).contains(unlockTimeout) else {
            throw ValidationError("--unlock-timeout must be 1 to 3600")
        }
    }

    func run(in session: CommandSession) throws(CommandFailure) {
        passcode.unlockOnDemand(in: session)
        let destination = ImportDestination(try Self.defaultKeychain())
        let work = KeychainImport(from: try source(in: session), into: destination, dryRun: dryRun || verify)
        let outcome = try work.run(ProgressLine("items", io: session.io))
        try session.write(json ? try JSONText.of(outcome.report) : outcome.report.text)
        if let failure = outcome.failure { throw failure }
        if let status = outcome.omissionStatus { throw .reported(status.rawValue) }
        guard verify else { return }
        // Those of a collection in memory are lost with their program.
        let left = outcome.report.new + outcome.report.different + outcome.report.leftOut
        if left > 0 || outcome.report.collections.contains(where: { $0.reason != nil }) { throw .reported(1) }
    }

    private func source(in session: CommandSession) throws(CommandFailure) -> any ImportSource {
        if let file {
            return try KeyringFileSource(file) { () throws(CommandFailure) in try password.read(in: session) }
        }
        return try SecretServiceSource(
            from, on: bus.map { BusAddress.custom($0) } ?? .session, unlockTimeout: unlockTimeout, io: session.io)
    }

    /// The keychain of new items, and not the others of the search list.
    private static func defaultKeychain() throws(CommandFailure) -> KeychainSession {
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            if let selected = try KeychainClient.selectedName() { return try KeychainClient.session(named: selected) }
            return try KeychainClient.session(named: KeychainClient.registry().keychains().list.defaultKeychain)
        }
    }
}
