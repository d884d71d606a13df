// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Glibc
import LinuxSystem

/// A latchkeyd for one test, with its own home, runtime directory and log.
public final class DaemonProcess: @unchecked Sendable {  // because one test at a time uses it
    public let directory: TemporaryDirectory
    public private(set) var process: SpawnedProcess
    private let arguments: [String]
    private let more: [String: String]
    private let launcher: [String]
    private let executable: String

    public var home: String { "\(directory.path)/home" }
    public var runtime: String { "\(directory.path)/run" }
    public var socket: String { "\(runtime)/latchkey/socket" }
    /// The resident memory of the daemon.
    public var residentKiB: Int { ProcessTable.residentKiB(of: process.processIdentifier) }
    /// The environment of clients and of the daemon.
    public var environment: [String: String] { ["XDG_RUNTIME_DIR": runtime] }
    /// The daemon's output.
    public var logText: String { (try? String(contentsOfFile: "\(directory.path)/said", encoding: .utf8)) ?? "" }

    /// - Parameters:
    ///   - launcher: the command that starts the daemon, before the path of the daemon.
    ///   - executable: the path of the daemon, if it is not the one beside the tests.
    ///   - waits: whether the initializer waits until the daemon listens.
    public init(
        _ arguments: [String] = ["--user"], launcher: [String] = [], executable: String = Executable.path("latchkeyd"),
        environment: [String: String] = [:],
        in directory: TemporaryDirectory? = nil, waits: Bool = true
    ) throws {
        self.directory = try directory ?? TemporaryDirectory()
        self.arguments = arguments
        self.launcher = launcher
        self.executable = executable
        more = environment
        try FileManager.default.createDirectory(
            atPath: "\(self.directory.path)/run", withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        process = try Self.spawn(launcher + [executable] + arguments, self.directory.path, environment)
        if waits { try waitUntilListening() }
    }

    /// Starts the daemon again.
    public func start() throws {
        process = try Self.spawn(launcher + [executable] + arguments, directory.path, more)
        try waitUntilListening()
    }

    private static func spawn(
        _ words: [String], _ directory: String, _ more: [String: String]
    ) throws -> SpawnedProcess {
        let environment = [
            "LATCHKEY_HOME": "\(directory)/home", "XDG_RUNTIME_DIR": "\(directory)/run", "SWIFT_BACKTRACE": "enable=no",
            "PATH": "/usr/bin:/bin",
            // Never the machine's own bus, because its sessions are not part of a test.
            "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(directory)/system-bus",
        ]
        return try SpawnedProcess(
            words, environment: environment.merging(more) { $1 }, output: "\(directory)/said")
    }

    /// Waits for a connection, because the path of the socket exists before the daemon listens.
    private func waitUntilListening() throws {
        var isListening = false
        _ = eventually {
            isListening = (try? Socket(connectingTo: path)) != nil
            return isListening || !process.isRunning
        }
        guard isListening else { throw NotListening(logText: logText) }
    }

    private var path: String { arguments.firstIndex(of: "--socket").map { arguments[$0 + 1] } ?? socket }

    public struct NotListening: Error { public let logText: String }

    /// Runs a program of this package as a client.
    public func client(_ name: String, _ arguments: [String], environment: [String: String] = [:], input: String? = nil)
        throws
        -> Executable.Outcome
    {
        try Executable.run(
            name, arguments, home: home, environment: self.environment.merging(environment) { $1 }, input: input)
    }

    /// Runs the program at a path as a client; returns its output.
    public func client(_ name: String, _ arguments: [String], at path: String) throws -> String {
        try run([path] + arguments, environment: environment.merging(["LATCHKEY_HOME": home]) { $1 })
    }

    /// Runs any command; returns its output.
    public func run(_ words: [String], environment: [String: String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: words[0])
        process.arguments = Array(words.dropFirst())
        process.environment = environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        try process.start()
        let text = String(decoding: output.fileHandleForReading.awaitEnd(), as: UTF8.self)
        process.awaitExit()
        return text
    }

    /// Sends the signal and waits until the daemon has ended.
    @discardableResult
    public func stop(signal: Int32 = SIGTERM) -> Int32 { process.stop(signal: signal) }
}
