// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import LatchkeyCommands
import LinuxSystem
import SecretMemory

/// Streams in memory: the lines of standard input are given, and the output is kept.
final class MemoryIO: CommandIO {
    private struct State {
        var input: [String]
        var output: [UInt8] = []
        var error: [UInt8] = []
    }

    private let state: SystemMutex<State>

    init(input: [String] = []) { state = SystemMutex(State(input: input)) }

    var isInputInteractive: Bool { false }
    var isErrorInteractive: Bool { false }
    var isOutputInteractive: Bool { false }
    var columns: Int? { 80 }

    var outputText: String { String(decoding: state.withLock { $0.output }, as: UTF8.self) }
    var errorText: String { String(decoding: state.withLock { $0.error }, as: UTF8.self) }

    func write(_ bytes: UnsafeRawBufferPointer, to stream: CommandStream) throws(KeychainError) {
        switch stream {
        case .output: state.withLock { $0.output += bytes }
        case .error: state.withLock { $0.error += bytes }
        }
    }

    func readLine() throws(KeychainError) -> SharedSecret? {
        let line = state.withLock { $0.input.isEmpty ? nil : $0.input.removeFirst() }
        return line.map { SharedSecret(copying: $0.utf8) }
    }

    func readInput(maxCount: Int) throws(KeychainError) -> SharedSecret? { try readLine() }

    func readSecret(prompt: StaticString) throws(KeychainError) -> SharedSecret? { nil }
}
