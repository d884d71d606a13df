// SPDX-License-Identifier: Apache-2.0

import LinuxSystem
import Testing

@Suite("Arguments of the process")
struct ProcessArgumentsTests {
    @Test("The arguments are those of the Swift runtime, byte for byte")
    func same() throws {
        #expect(!ProcessArguments.all.isEmpty)
        #expect(ProcessArguments.all == CommandLine.arguments)
        #expect(ProcessArguments.map { Array($0) } == CommandLine.arguments.map { Array($0.utf8) })
        #expect(try ProcessArguments.texts() == Array(CommandLine.arguments.dropFirst()))
    }
}
