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
            Creates no keychain if there is none yet.

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
            StatusReport(try keychain.status(), try keychain.lockStatus())
        }
    }
}
