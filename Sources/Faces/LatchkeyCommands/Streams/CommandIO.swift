// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import LinuxSystem
public import SecretMemory

/// Where a command reads and writes. The process has ``ProcessIO``; tests bring their own and run commands in process.
public protocol CommandIO {
    /// Whether standard input is a terminal, so that somebody can be asked.
    var isInputInteractive: Bool { get }
    /// Whether standard error is a terminal, so that progress can be shown.
    var isErrorInteractive: Bool { get }
    /// Whether standard output is a terminal, which shows text alone.
    var isOutputInteractive: Bool { get }
    /// The width that help is wrapped to; nil asks the terminal.
    var columns: Int? { get }

    func write(_ bytes: UnsafeRawBufferPointer, to stream: CommandStream) throws(KeychainError)

    /// One line of standard input without its end; nil at the end of input.
    func readLine() throws(KeychainError) -> SharedSecret?

    /// All of standard input to its end; nil where it is empty.
    ///
    /// - Throws: errSecDataTooLarge where it has more than `maxCount` bytes.
    func readInput(maxCount: Int) throws(KeychainError) -> SharedSecret?

    /// One line from the terminal, not shown while it is typed; nil at the end of input. The prompt is a literal, so that it holds no
    /// foreign text.
    ///
    /// - Throws: errSecUserCanceled after Ctrl-C, errSecInteractionNotAllowed where there is no terminal.
    func readSecret(prompt: StaticString) throws(KeychainError) -> SharedSecret?
}

/// The two streams that a command writes to.
public enum CommandStream: Sendable {
    case output, error
}

extension CommandIO {
    /// Writes text: the only way for text to a stream.
    func write(_ text: TerminalText, to stream: CommandStream) throws(KeychainError) {
        try Array(text.string.utf8).withUnsafeBufferPointer { (bytes) throws(KeychainError) in
            try write(UnsafeRawBufferPointer(bytes), to: stream)
        }
    }

    /// Writes to standard error. Where even that fails there is nobody left to tell.
    func say(_ text: TerminalText) {
        try? write(text, to: .error)
    }
}
