// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem

/// `security show-keychain-info`.
enum ShowKeychainInfo: SecurityCommand {
    static let definition = CommandDefinition(
        name: "show-keychain-info",
        summary: "Show when the keychain locks itself.",
        operands: "[keychain]",
        notes: ["The line is printed on standard error, as on macOS."],
        examples: ["show-keychain-info"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        let keychain = try KeychainOperand.one(of: arguments.operands, in: session)
        let settings = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try keychain.session.lockStatus().settings
        }
        let name = arguments.operands.isEmpty ? "<NULL>" : try keychain.path()
        let parts = [
            settings.locksOnSleep ? "lock-on-sleep" : nil,
            settings.lockInterval == 0 ? "no-timeout" : "timeout=\(settings.lockInterval)s",
        ]
        session.io.say(
            "Keychain \"\(TerminalText(name, maxLength: nil))\" \(parts.compactMap { $0 }.joined(separator: " "))\n")
    }
}
