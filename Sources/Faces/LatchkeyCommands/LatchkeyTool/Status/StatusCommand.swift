// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import LinuxSystem

/// `latchkey status`.
struct StatusCommand: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.status.rawValue,
        abstract: LatchkeySubcommand.status.abstract,
        discussion: """
            Creates no keychain if there is none yet. Under presence, it names the methods by which you can be asked for \
            items with an access control, and why the others cannot be used.

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
        if let missing { return StatusReport(missingAt: missing) }
        let keychain = try session.keychain()
        return try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            let status = try keychain.status()
            // A keychain in memory ends with this command; nothing is ever asked for its items.
            let presence = status.mode == .ephemeral ? nil : try? keychain.presenceStatus()
            var report = StatusReport(status, try keychain.lockStatus(), presence)
            report.keychains = try KeychainClient.registry().keychains().reports
            return report
        }
    }
}
