// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem

/// `latchkey status`.
struct StatusCommand: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.status.rawValue,
        abstract: LatchkeySubcommand.status.abstract,
        discussion: """
            Creates no keychain if there is none yet. Under presence, it names the methods that can ask you for items \
            with an access control, and why the others cannot be used.

            EXAMPLES:
              latchkey status
              latchkey status --json | jq .database
            """)

    @Flag(help: "Print JSON.")
    var json = false

    func run(in session: CommandSession) throws(CommandFailure) {
        let report = try Self.report(in: session)
        try session.write(json ? try JSONText.of(report) : report.text)
    }

    private static func report(in session: CommandSession) throws(CommandFailure) -> StatusReport {
        let missing = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try KeychainClient.missingHome() }
        var report =
            if let missing { StatusReport(missingAt: missing) } else { try report(of: session.keychain()) }
        report.secretService = SecretServiceStatus.current()
        report.keychains = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try KeychainClient.registry().keychains().reports
        }
        return report
    }

    private static func report(of keychain: KeychainSession) throws(CommandFailure) -> StatusReport {
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            let status = try keychain.status()
            // A keychain in memory ends with this command; nothing is ever asked for its items.
            let presence = status.mode == .ephemeral ? nil : try? keychain.presenceStatus()
            return StatusReport(status, try keychain.settledLockStatus(), presence)
        }
    }
}
