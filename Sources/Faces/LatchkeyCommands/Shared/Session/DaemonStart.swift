// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyClient

/// The start of the user's latchkeyd by the commands that unlock, as programs start gpg-agent.
enum DaemonStart {
    static func ifNeeded(in session: CommandSession) throws(CommandFailure) {
        // The streams of a test are not those of the process.
        guard session.io is ProcessIO else { return }
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try KeychainClient.startDaemonIfMissing() }
    }
}
