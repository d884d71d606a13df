// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The explanation of an exit value other than the lowest byte of a status, for `latchkey explain` and
/// the page of errors.
struct ExitValueExplanation: Sendable {
    let value: UInt8
    /// The outcome, in one line.
    let title: String
    /// Why.
    let cause: String
    /// The actions to take, one step each.
    let steps: [String]

    /// Every such value but 2, the value of ``ErrorIdentifier/usage``.
    static let all = [
        ExitValueExplanation(
            value: 1, title: "A check found something, or there is no such command",
            cause:
                "The command did its work, and reports a finding, such as a certificate that is not trusted; or a program that it ran has failed; or no command has the name that was given.",
            steps: [
                "The output names the finding.", "`latchkey help` lists the commands.",
            ]),
        ExitValueExplanation(
            value: 3, title: "There is no connection",
            cause:
                "A command that connects, such as `latchkey tls check`, did not reach the server, or the server did not answer in time.",
            steps: [
                "The last line of the output says why.",
                "Check the name, the port and the network; `--timeout` waits longer.",
            ]),
        ExitValueExplanation(
            value: 126, title: "The program cannot be run",
            cause: "`latchkey with-passcode` or `latchkey session` could not run the program that was named.",
            steps: ["Check that the file is executable: `ls -l FILE`."]),
        ExitValueExplanation(
            value: 127, title: "There is no such program",
            cause: "`latchkey with-passcode` or `latchkey session` did not find the program that was named.",
            steps: ["Check its name and `PATH`."]),
    ]

    /// The explanation as text of several lines.
    var text: TerminalText {
        let first: TerminalText = "exit value \(value)  \(title)\nwhy:    \(cause)\n"
        return first + steps.map { "do:     \($0)\n" as TerminalText }.joined()
    }
}
