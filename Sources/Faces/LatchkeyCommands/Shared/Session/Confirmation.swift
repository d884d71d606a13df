// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
package import LinuxSystem
internal import SecretMemory

extension CommandSession {
    /// Asks a question on the terminal, and returns only after the answer `yes` or `y`, in upper or lower case.
    ///
    /// - Throws: errSecUserCanceled for any other answer.
    package func confirm(_ question: TerminalText) throws(CommandFailure) {
        io.say("latchkey: \(question) (yes/no)\u{20}")
        let answer = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try io.readLine() }
        guard answer?.isYes == true else {
            throw .status(KeychainError(.userCanceled, "nothing was changed"))
        }
    }
}

extension SharedSecret {
    fileprivate var isYes: Bool {
        guard count <= Self.maxAnswerLength else { return false }
        // EXPOSE: an answer to a question is not secret.
        let text = withUnsafeBytes { String(decoding: $0, as: UTF8.self) }.lowercased()
        return [["y"], ["yes"]].contains(text.split(separator: " "))
    }

    private static var maxAnswerLength: Int { 64 }
}
