// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import LinuxSystem
import Testing

/// Programs that get bytes on their standard input, with an output that is read.
@Suite("Child processes")
struct ChildProcessTests {
    @Test("A program reads the input to its end, and its exit value is returned", arguments: [0, 1, 200_000])
    func input(count: Int) throws {
        let directory = try TemporaryDirectory()
        let bytes = [UInt8](repeating: 0x61, count: count)
        let words = ["sh", "-c", "cat > \"$1\"; exit 7", "sh", "\(directory.path)/out"]
        #expect(try bytes.withUnsafeBytes { try ChildProcess.run(words, input: $0) } == 7)
        #expect(try Array(Data(contentsOf: URL(filePath: "\(directory.path)/out"))) == bytes)
    }

    @Test("A program that does not read its input neither ends this process nor hides its exit value")
    func unread() throws {
        let bytes = [UInt8](repeating: 0, count: 1 << 20)
        #expect(try bytes.withUnsafeBytes { try ChildProcess.run(["sh", "-c", "exit 3"], input: $0) } == 3)
        #expect(throws: SystemError.self) {
            try bytes.withUnsafeBytes { try ChildProcess.run(["sh", "-c", "exec <&-; exit 0"], input: $0) }
        }
    }

    @Test("The output of a program is read until its end, or until the buffer is full")
    func output() throws {
        #expect(try Self.read(["sh", "-c", "printf abc; exit 4"], count: 10).map { "\($0)" } == ["4", "abc"])
        #expect(try Self.read(["printf", "abcdef"], count: 3).last == "abc")
        #expect(try Self.read(["true"], count: 3) == ["0", ""])
    }

    @Test(
        "A program that does not end is ended after the timeout, with any output",
        arguments: [
            // Without exec, the sleep would be a process of its own, and would remain with the descriptors of other
            // tests.
            "exec sleep 100000", "while :; do printf x; sleep 0.01; done", "exec >&-; exec sleep 100000",
            "printf x; exec >&-; exec sleep 100000",
        ])
    func timeout(_ script: String) throws {
        let error = #expect(throws: SystemError.self) {
            try Self.read(["sh", "-c", script], count: 1 << 20, timeout: 300)
        }
        #expect(error?.code == ETIMEDOUT)
    }

    @Test("A program that does not exist is reported as such")
    func missing() {
        let name = "no-such-program-\(UInt64.random(in: 0...UInt64.max))"
        #expect(throws: SystemError("run", path: name, code: ENOENT)) { try Self.read([name], count: 1) }
        #expect(throws: SystemError("run", path: name, code: ENOENT)) {
            try ChildProcess.run([name], input: UnsafeRawBufferPointer(start: nil, count: 0))
        }
    }

    @Test("A program in the background is in a session of its own, and reads the input of the descriptor")
    func background() throws {
        let directory = try TemporaryDirectory()
        let file = "\(directory.path)/out"
        let script = """
            read line; echo "$line" > $0.new; cut -d ' ' -f 6 /proc/$$/stat >> $0.new; echo $$ >> $0.new; mv $0.new $0
            """
        let input = try ChildProcess.startInBackground("/bin/sh", ["sh", "-c", script, file], output: nil)
        try Array("a line\n".utf8).withUnsafeBytes { try input.write($0, path: "the input") }
        #expect(eventually { FileManager.default.fileExists(atPath: file) })
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 3 && lines[0] == "a line" && lines[1] == lines[2], "\(lines)")
    }

    @Test("Bytes for a program that has closed its input are an error, and do not end this process")
    func closedInput() throws {
        let directory = try TemporaryDirectory()
        let file = "\(directory.path)/closed"
        let input = try ChildProcess.startInBackground("/bin/sh", ["sh", "-c", "exec <&-; : > $0", file], output: nil)
        #expect(eventually { FileManager.default.fileExists(atPath: file) })
        // A program that another test starts at this moment has the input until it calls exec.
        var failure: SystemError?
        let hasFailed = eventually(limit: 60) {
            do throws(SystemError) {
                try Self.sendByte(to: input)
            } catch {
                failure = error
            }
            return failure != nil
        }
        #expect(hasFailed && failure == SystemError("write", path: "to the input of a program", code: EPIPE))
    }

    private static func sendByte(to input: borrowing OwnedDescriptor) throws(SystemError) {
        var byte: UInt8 = 1
        try withUnsafeBytes(of: &byte) { (bytes) throws(SystemError) in try ChildProcess.send(bytes, to: input) }
    }

    /// Returns the exit value and the output.
    @discardableResult
    private static func read(_ words: [String], count: Int, timeout: Int32 = 300_000) throws -> [String] {
        var buffer = [UInt8](repeating: 0, count: count)
        var status: Int32 = 0
        var read = 0
        try buffer.withUnsafeMutableBytes {
            (status, read) = try ChildProcess.run(words, readingInto: $0, timeout: timeout)
        }
        return ["\(status)", String(decoding: buffer.prefix(read), as: UTF8.self)]
    }
}
