// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

extension CommandSession {
    /// Asks a question on the terminal, and returns only after the answer `yes`.
    ///
    /// - Throws: errSecUserCanceled for any other answer.
    func confirm(_ question: TerminalText) throws(CommandFailure) {
        io.say("latchkey: \(question) (yes/no)\u{20}")
        let answer = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try io.readLine() }
        guard answer == SharedSecret(copying: Array("yes".utf8)) else {
            throw .status(KeychainError(.userCanceled, "nothing was changed"))
        }
    }
}
