// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import LatchkeyCommands
import SecretMemory

/// Streams in memory: the input is given, and the output is kept.
final class TestIO: CommandIO {
    /// The lines of standard input.
    private var input: [String]
    /// The user's answers at the terminal; nil if standard input is not a terminal. A nil answer is
    /// Ctrl-D.
    private var answers: [String?]?
    private(set) var output: [UInt8] = []
    private(set) var error: [UInt8] = []
    /// Whether writing to standard output fails, as on a full disk.
    private let outputFails: Bool

    init(input: [String] = [], answers: [String?]? = nil, outputFails: Bool = false, isErrorInteractive: Bool = false) {
        self.isErrorInteractive = isErrorInteractive
        self.input = input
        self.answers = answers
        self.outputFails = outputFails
    }

    var isInputInteractive: Bool { answers != nil }
    let isErrorInteractive: Bool
    var isOutputInteractive: Bool { isErrorInteractive }
    let columns: Int? = 80

    func write(_ bytes: UnsafeRawBufferPointer, to stream: CommandStream) throws(KeychainError) {
        switch stream {
        case .output:
            guard !outputFails else { throw KeychainError(.io, "cannot write the output: No space left on device") }
            output += bytes
        case .error:
            error += bytes
        }
    }

    func readLine() throws(KeychainError) -> SharedSecret? {
        guard !input.isEmpty else { return nil }
        return SharedSecret(copying: input.removeFirst().utf8)
    }

    /// The remaining lines, without a line end after the last one.
    func readInput(maxCount: Int) throws(KeychainError) -> SharedSecret? {
        guard !input.isEmpty else { return nil }
        defer { input = [] }
        let whole = input.joined(separator: "\n")
        guard whole.utf8.count <= maxCount else { throw KeychainError(.dataTooLarge) }
        return SharedSecret(copying: whole.utf8)
    }

    func readSecret(prompt: StaticString) throws(KeychainError) -> SharedSecret? {
        error += Array(prompt.description.utf8)
        guard answers?.isEmpty == false, let answer = answers?.removeFirst() else { return nil }
        error.append(UInt8(ascii: "\n"))
        return SharedSecret(copying: answer.utf8)
    }
}
