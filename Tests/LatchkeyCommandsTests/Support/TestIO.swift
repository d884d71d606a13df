// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import LatchkeyCommands
import LinuxSystem
import SecretMemory

/// Streams in memory: the input is given, and the output is kept.
final class TestIO: CommandIO {
    private struct State {
        /// The lines of standard input.
        var input: [String]
        /// The user's answers at the terminal. A nil answer is Ctrl-D.
        var answers: [String?]
        var output: [UInt8] = []
        var error: [UInt8] = []
    }

    private let state: SystemMutex<State>
    let isInputInteractive: Bool
    /// Whether writing to standard output fails, as on a full disk.
    private let outputFails: Bool

    init(input: [String] = [], answers: [String?]? = nil, outputFails: Bool = false, isErrorInteractive: Bool = false) {
        self.isErrorInteractive = isErrorInteractive
        isInputInteractive = answers != nil
        state = SystemMutex(State(input: input, answers: answers ?? []))
        self.outputFails = outputFails
    }

    var output: [UInt8] { state.withLock { $0.output } }
    var error: [UInt8] { state.withLock { $0.error } }
    let isErrorInteractive: Bool
    var isOutputInteractive: Bool { isErrorInteractive }
    let columns: Int? = 80

    func write(_ bytes: UnsafeRawBufferPointer, to stream: CommandStream) throws(KeychainError) {
        switch stream {
        case .output:
            guard !outputFails else { throw KeychainError(.io, "cannot write the output: No space left on device") }
            state.withLock { $0.output += bytes }
        case .error:
            state.withLock { $0.error += bytes }
        }
    }

    func readLine() throws(KeychainError) -> SharedSecret? {
        let line = state.withLock { $0.input.isEmpty ? nil : $0.input.removeFirst() }
        return line.map { SharedSecret(copying: $0.utf8) }
    }

    /// The remaining lines, without a line end after the last one.
    func readInput(maxCount: Int) throws(KeychainError) -> SharedSecret? {
        let input = state.withLock { state in
            defer { state.input = [] }
            return state.input
        }
        guard !input.isEmpty else { return nil }
        let whole = input.joined(separator: "\n")
        guard whole.utf8.count <= maxCount else { throw KeychainError(.dataTooLarge) }
        return SharedSecret(copying: whole.utf8)
    }

    func readSecret(prompt: StaticString) throws(KeychainError) -> SharedSecret? {
        let answer = state.withLock { state -> String? in
            state.error += Array(prompt.description.utf8)
            guard !state.answers.isEmpty, let answer = state.answers.removeFirst() else { return nil }
            state.error.append(UInt8(ascii: "\n"))
            return answer
        }
        return answer.map { SharedSecret(copying: $0.utf8) }
    }
}
