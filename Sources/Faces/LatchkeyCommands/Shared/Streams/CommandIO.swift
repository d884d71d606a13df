// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
package import LinuxSystem
public import SecretMemory

/// The streams of a command. ``ProcessIO`` provides those of the process; tests provide their own
/// and run commands in process.
public protocol CommandIO: Sendable {
    /// Whether standard input is a terminal, so that the user can be asked.
    var isInputInteractive: Bool { get }
    /// Whether standard error is a terminal, so that progress can be shown.
    var isErrorInteractive: Bool { get }
    /// Whether standard output is a terminal, so that it can show only text.
    var isOutputInteractive: Bool { get }
    /// The width of wrapped help; nil if the output has none.
    var columns: Int? { get }

    func write(_ bytes: UnsafeRawBufferPointer, to stream: CommandStream) throws(KeychainError)

    /// Reads one line of standard input, without its line end; nil at the end of input.
    func readLine() throws(KeychainError) -> SharedSecret?

    /// Reads all of standard input; nil if it is empty.
    ///
    /// - Throws: errSecDataTooLarge if there are more than `maxCount` bytes.
    func readInput(maxCount: Int) throws(KeychainError) -> SharedSecret?

    /// Reads one line from the terminal without echo; nil at the end of input. The prompt is a
    /// literal, so that it contains no untrusted text.
    ///
    /// - Throws: errSecUserCanceled after Ctrl-C, errSecInteractionNotAllowed if there is no
    ///   terminal.
    func readSecret(prompt: StaticString) throws(KeychainError) -> SharedSecret?
}

/// The streams that a command writes to.
public enum CommandStream: Sendable {
    case output, error
}

extension CommandIO {
    /// Writes text. Text reaches a stream only through this function.
    package func write(_ text: TerminalText, to stream: CommandStream) throws(KeychainError) {
        try Array(text.string.utf8).withUnsafeBufferPointer { (bytes) throws(KeychainError) in
            try write(UnsafeRawBufferPointer(bytes), to: stream)
        }
    }

    /// Writes to standard error. A failure is ignored, because there is no other place to report
    /// it.
    package func say(_ text: TerminalText) {
        try? write(text, to: .error)
    }
}
