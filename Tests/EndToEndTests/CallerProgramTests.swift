// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
@testable import LatchkeyService
import LinuxSystem
import Testing

/// A process that executes another program while its connection is open.
@Suite("Programs of callers", .enabled(if: access("/proc/self/pagemap", F_OK) == 0, "needs /proc/PID/pagemap"))
struct CallerProgramTests {
    /// A process that connects to the test, and then executes each of the programs, on demand.
    private final class Caller {
        let directory: TemporaryDirectory
        let connected: ConnectedCaller
        let process: SpawnedProcess
        private let connection: Socket
        private var executions = 0

        /// - Parameter names: the names of the programs; all are copies of one program.
        init(_ names: [String]) throws {
            directory = try TemporaryDirectory()
            let path = directory.path
            for name in Set(names) {
                try FileManager.default.copyItem(atPath: Executable.path("ProofWorker"), toPath: "\(path)/\(name)")
            }
            let listener = try Socket(listeningAt: "\(path)/socket", permissions: 0o600)
            let next = names.dropFirst().enumerated().flatMap {
                ["\(path)/flag-\($0.offset)", "\(path)/\($0.element)"]
            }
            process = try SpawnedProcess(
                ["\(path)/\(names[0])", "execute", "\(path)/socket"] + next, environment: [:], output: "\(path)/output")
            connection = try #require(try listener.accept(until: StopSignal()))
            connected = ConnectedCaller(
                try Peer(of: connection), claim: CallerIdentity(executable: "/claimed"),
                reader: CallerReader(commands: [], entitlements: nil))
        }

        func declare(_ groups: [String], beside name: String) throws {
            let list = ["keychain-access-groups": groups]
            try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
                .write(to: URL(filePath: "\(directory.path)/\(name).entitlements"))
        }

        /// Lets the process execute its next program, and waits until it has.
        func executeNext() throws {
            let flag = "\(directory.path)/flag-\(executions)"
            executions += 1
            #expect(FileManager.default.createFile(atPath: flag, contents: nil))
            let arguments = "/proc/\(process.processIdentifier)/cmdline"
            // While it executes a program, the arguments are empty, and the old address space may
            // still be in use.
            #expect(
                eventually {
                    let text = (try? String(contentsOfFile: arguments, encoding: .utf8)) ?? ""
                    return !text.isEmpty && !text.contains("\(flag)\0")
                })
        }

        /// The name of the program and the groups that it declares, according to the identity.
        func identity() throws -> (name: String, groups: [String]?) {
            let identity = try connected.identity()
            return ((identity.executable as NSString).lastPathComponent, identity.declaredGroups)
        }
    }

    @Test("A connected process that executes another program has that program's identity at once")
    func another() throws {
        let caller = try Caller(["one", "two", "one"])
        try caller.declare(["com.example.two"], beside: "two")
        // The identity is kept from the second request on.
        for _ in 0..<3 { #expect(try caller.identity() == ("one", nil)) }
        try caller.executeNext()
        for _ in 0..<3 { #expect(try caller.identity() == ("two", ["com.example.two"])) }
        try caller.executeNext()
        for _ in 0..<3 { #expect(try caller.identity() == ("one", nil)) }
        withExtendedLifetime(caller) {}
    }

    @Test("A connected process that executes its own program again gets the identity that the program has then")
    func same() throws {
        let caller = try Caller(["one", "one"])
        #expect(try caller.identity() == ("one", nil))
        try caller.declare(["com.example.one"], beside: "one")
        try caller.executeNext()
        #expect(try caller.identity() == ("one", ["com.example.one"]))
        withExtendedLifetime(caller) {}
    }

    @Test("A connected process that has ended has no identity, however often it was read before")
    func ended() throws {
        let caller = try Caller(["one"])
        for _ in 0..<3 { #expect(try caller.identity() == ("one", nil)) }
        caller.process.stop(signal: SIGKILL)
        #expect(throws: KeychainError.self) { try caller.identity() }
    }
}
