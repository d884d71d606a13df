// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import KeychainTesting
import LinuxSystem
import Testing

/// Programs that this process talks to, line by line.
@Suite("Programs to talk to")
struct ConversationProcessTests {
    @Test("The program reads the written line, and its answer is read here")
    func talk() throws {
        let program = try Self.start("while read -r line; do echo \"<$line>\"; done")
        for text in ["one", "two"] {
            try Self.write("\(text)\n", to: program)
            #expect(try Self.read(6, from: program) == "<\(text)>\n")
        }
    }

    @Test("The end of the program's output is zero bytes, and its closed input is an error, not a signal")
    func ended() throws {
        let program = try Self.start("exec <&-; echo ready; exec >&-; exec sleep 100000")
        #expect(try Self.read(6, from: program) == "ready\n")
        #expect(try Self.read(1, from: program) == "")
        // A program that another test is just starting has copies of this process's pipes until its own executable
        // runs. Until then a pipe without another reader takes the written bytes.
        #expect(throws: SystemError("write to a program", code: EPIPE)) {
            while true { try Self.write("x", to: program) }
        }
    }

    @Test("A program that neither reads nor writes delays this process until the deadline, or a cancellation")
    func deadline() throws {
        let program = try Self.start("exec sleep 100000")
        let past = BootClock.system.now()
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        buffer.withUnsafeMutableBytes { buffer in
            #expect(throws: SystemError("read the output of a program", code: ETIMEDOUT)) {
                _ = try program.read(into: buffer, until: past + 100_000_000, cancellation: Cancellation())
            }
            #expect(throws: SystemError("write to a program", code: ETIMEDOUT)) {
                try program.write(
                    UnsafeRawBufferPointer(buffer), until: past + 200_000_000, cancellation: Cancellation())
            }
            let cancellation = Cancellation()
            cancellation.request()
            #expect(throws: SystemError("read the output of a program", code: ECANCELED)) {
                _ = try program.read(into: buffer, until: .max, cancellation: cancellation)
            }
        }
    }

    @Test("A program without the value that owns it ends, with the children of its session, and is reaped")
    func release() throws {
        let directory = try TemporaryDirectory()
        let script = """
            trap 'echo bye > "$0/end"; exit' TERM
            sh -c 'trap "" TERM HUP; echo $$ > "$0/child.new"; mv "$0/child.new" "$0/child"; while :; do sleep 1; done' "$0" &
            while :; do sleep 0.01; done
            """
        let (process, child) = try Self.startAndEnd(script, directory)
        #expect(waitpid(process, nil, WNOHANG) == -1 && errno == ECHILD)
        #expect(try String(contentsOf: URL(filePath: "\(directory.path)/end"), encoding: .utf8) == "bye\n")
        #expect(
            eventually {
                let status = try? String(contentsOf: URL(filePath: "/proc/\(child)/status"), encoding: .utf8)
                return status?.contains("State:\tZ") ?? true
            })
    }

    @Test("A program that ignores SIGTERM is killed")
    func killed() throws {
        let process = try Self.killedProcess()
        #expect(waitpid(process, nil, WNOHANG) == -1 && errno == ECHILD)
    }

    @Test("The program has only the environment that it is given, and no standard error")
    func environment() throws {
        let program = try Self.start("tr '\\0' ' ' < /proc/$$/environ; readlink /proc/$$/fd/2; echo end")
        #expect(try Self.read(24, from: program) == "A=1 B=two words /dev/nul")
    }

    @Test("A program that does not exist is reported as such")
    func missing() {
        #expect(throws: SystemError("run", path: "/nonexistent/program", code: ENOENT)) {
            _ = try ConversationProcess(
                executable: "/nonexistent/program", environment: [] as [String], startsSession: true)
        }
    }

    // MARK: Support

    private static func start(_ script: String, _ name: String = "sh") throws -> ConversationProcess {
        try ConversationProcess(
            executable: "/bin/sh", arguments: ["-c", script, name], environment: ["A=1", "B=two words"],
            startsSession: true)
    }

    private static func startAndEnd(_ script: String, _ directory: TemporaryDirectory) throws -> (Int32, Int32) {
        let program = try start(script, directory.path)
        let file = URL(filePath: "\(directory.path)/child")
        #expect(eventually { (try? Data(contentsOf: file)) != nil })
        let child = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").first.flatMap { Int32($0) }
        return (program.process, try #require(child))
    }

    private static func killedProcess() throws -> Int32 {
        let program = try start("trap '' TERM; echo ready; while :; do sleep 1; done")
        #expect(try read(6, from: program) == "ready\n")
        return program.process
    }

    /// Only ends a wait for something that never happens.
    private static var deadline: UInt64 { BootClock.system.now() + 300_000_000_000 }

    private static func write(_ text: String, to program: borrowing ConversationProcess) throws {
        try Array(text.utf8).withUnsafeBytes {
            try program.write($0, until: deadline, cancellation: Cancellation())
        }
    }

    /// Reads this number of bytes, or fewer at the end.
    private static func read(_ count: Int, from program: borrowing ConversationProcess) throws -> String {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = try bytes.withUnsafeMutableBytes {
                try program.read(
                    into: UnsafeMutableRawBufferPointer(rebasing: $0.dropFirst(filled)), until: deadline,
                    cancellation: Cancellation())
            }
            if got == 0 { break }
            filled += got
        }
        return String(decoding: bytes.prefix(filled), as: UTF8.self)
    }
}
