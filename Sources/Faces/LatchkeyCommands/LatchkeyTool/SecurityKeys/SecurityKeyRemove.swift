// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// `latchkey security-key remove`.
struct SecurityKeyRemove: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a security key, plugged in or not.",
        discussion: """
            Refuses to remove a key that items require: no other way opens them. --force deletes these items.

            EXAMPLES:
              latchkey security-key remove --dry-run blue
              latchkey security-key remove blue
            """)

    @Argument(help: ArgumentHelp("The name of the key.", valueName: "name"))
    var name: String

    @Flag(help: "Also delete the items that only this key opens.")
    var force = false

    @Flag(name: [.customShort("n"), .long], help: "Only show how many items require the key.")
    var dryRun = false

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var passcode: PasscodeOptions

    func run(in session: CommandSession) throws(CommandFailure) {
        let keychain = try session.keychain()
        let count = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            guard let key = try keychain.securityKeys().first(where: { $0.name == name })?.identifier else {
                throw KeychainError(
                    .itemNotFound, "no security key of this name is enrolled", hint: "latchkey security-key list")
            }
            if dryRun { return try keychain.removeSecurityKey(key, passcode: nil, dryRun: true) }
            let code: SharedSecret? =
                try keychain.lockStatus().hasPasscode ? try passcode.source.read(in: session) : nil
            return try keychain.removeSecurityKey(key, passcode: code, deletesItems: force)
        }
        if json { return try session.write(JSONText.of(SecurityKeyRemoval(removed: !dryRun, items: count))) }
        let items: TerminalText = count == 1 ? "1 item requires it" : "\(count) items require it"
        let deleted: TerminalText = count == 1 ? "1 item was deleted" : "\(count) items were deleted"
        session.io.say(
            dryRun
                ? "latchkey: the security key would be removed; \(items)\n"
                : "latchkey: the security key is removed; \(deleted)\n")
    }
}

/// The result of a removal or of its dry run, in the shape of its JSON.
private struct SecurityKeyRemoval: Encodable {
    var removed: Bool
    /// How many items were deleted, or require the key.
    var items: Int
}
