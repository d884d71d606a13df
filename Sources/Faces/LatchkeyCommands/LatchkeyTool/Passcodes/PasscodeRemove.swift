// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem

/// `latchkey passcode remove`.
struct PasscodeRemove: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove the passcode.",
        discussion: """
            Destroys the items that exist only while a passcode is set: those of the class \
            whenPasscodeSetThisDeviceOnly, and those with an access control that nothing else satisfies. Asks before \
            it destroys items; without a terminal it requires --yes.

            EXAMPLES:
              latchkey passcode remove --dry-run
              latchkey passcode remove --yes --passcode-file ~/.passcode
            """)

    @OptionGroup var passcode: PasscodeOptions

    @Flag(name: .shortAndLong, help: "Do not ask for confirmation before items are destroyed.")
    var yes = false

    @Flag(name: [.customShort("n"), .long], help: "Only show how many items would be destroyed.")
    var dryRun = false

    @Flag(help: "Print JSON.")
    var json = false

    func run(in session: CommandSession) throws(CommandFailure) {
        let keychain = try session.keychain()
        let status = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try keychain.status() }
        guard status.hasPasscode else {
            throw .status(KeychainError(.param, "no passcode is set", hint: "latchkey passcode set"))
        }
        if dryRun { return try report(PasscodeRemoval(removed: false, items: status.itemsRequiringPasscode), session) }
        if !yes, status.itemsRequiringPasscode > 0 { try confirm(status.itemsRequiringPasscode, in: session) }
        let old = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try passcode.source.read(in: session)
        }
        let progress = ProgressLine("items re-encrypted", io: session.io)
        let count = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            defer { progress.clear() }
            return try keychain.removePasscode(old) { progress.show($0, of: $1) }
        }
        try report(PasscodeRemoval(removed: true, items: count), session)
    }

    /// - Throws: errSecUserCanceled for any answer but yes, errSecParam if there is no
    ///   terminal.
    private func confirm(_ count: Int, in session: CommandSession) throws(CommandFailure) {
        let items = PasscodeRemoval.text(count)
        guard session.io.isInputInteractive else {
            throw .parameter(
                "\(items) would be destroyed with the passcode, but no terminal is available for confirmation",
                hint: "--yes skips the question; --dry-run only shows how many items would be destroyed")
        }
        try session.confirm("\(items) will be destroyed with the passcode. Continue?")
    }

    private func report(_ removal: PasscodeRemoval, _ session: CommandSession) throws(CommandFailure) {
        if json { return try session.write(JSONText.of(removal)) }
        session.io.say(removal.text)
    }
}

/// The result of a removal of the passcode or of its dry run, in the shape of its JSON.
private struct PasscodeRemoval: Encodable {
    var removed: Bool
    /// How many items were destroyed, or would be.
    var items: Int

    var text: TerminalText {
        guard removed else {
            return "latchkey: the passcode would be removed; \(Self.text(items)) would be destroyed\n"
        }
        let destroyed = items == 1 ? "1 item was" : "\(items) items were"
        return """
            latchkey: the passcode is removed, and \(destroyed) destroyed; only the device key protects the keychain now

            """
    }

    static func text(_ count: Int) -> String { count == 1 ? "1 item" : "\(count) items" }
}
