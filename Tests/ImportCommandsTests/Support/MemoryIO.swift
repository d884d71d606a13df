// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import LatchkeyCommands
import SecretMemory

/// Streams in memory: the lines of standard input are given, and the output is kept.
final class MemoryIO: CommandIO {
    private var input: [String]
    private var output: [UInt8] = []
    private var error: [UInt8] = []

    init(input: [String] = []) { self.input = input }

    var isInputInteractive: Bool { false }
    var isErrorInteractive: Bool { false }
    var isOutputInteractive: Bool { false }
    var columns: Int? { 80 }

    var outputText: String { String(decoding: output, as: UTF8.self) }
    var errorText: String { String(decoding: error, as: UTF8.self) }

    func write(_ bytes: UnsafeRawBufferPointer, to stream: CommandStream) throws(KeychainError) {
        switch stream {
        case .output: output += bytes
        case .error: error += bytes
        }
    }

    func readLine() throws(KeychainError) -> SharedSecret? {
        guard !input.isEmpty else { return nil }
        return SharedSecret(copying: input.removeFirst().utf8)
    }

    func readInput(maxCount: Int) throws(KeychainError) -> SharedSecret? { try readLine() }

    func readSecret(prompt: StaticString) throws(KeychainError) -> SharedSecret? { nil }
}
