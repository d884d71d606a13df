// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import LinuxSystem

/// `latchkey status`.
struct StatusCommand: OwnParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: OwnCommand.status.rawValue,
        abstract: OwnCommand.status.abstract,
        discussion: """
            Where there is no keychain yet, one is made.

            EXAMPLES:
              latchkey status
              latchkey status --json | jq .database
            """)

    @Flag(help: "Print JSON.")
    var json = false

    func run(in session: CommandSession) throws(CommandFailure) {
        let missing = KeychainClient.isOnFiles ? MissingKeychain.path : nil
        let keychain = try session.keychain()
        let status = try CommandFailure.naming(nil) { () throws(KeychainError) in try keychain.status() }
        let lock = try CommandFailure.naming(nil) { () throws(KeychainError) in try keychain.lockStatus() }
        let isNew = missing != nil && missing == status.databasePath
        if isNew { session.io.say("latchkey: there was no keychain; a new one was made\n") }
        let report = StatusReport(status, lock, isNew: isNew)
        try session.write(json ? try JSONText.of(report) : report.text)
    }
}
