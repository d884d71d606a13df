// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
public import KeychainTesting
public import TrustedPlatformModule

/// A software TPM (swtpm) with a state of its own, for one test.
public final class SoftwareTPM: @unchecked Sendable {  // because one test at a time restarts it
    public static let program = "/usr/bin/swtpm"
    /// Whether the tests that need a TPM can run.
    public static let isInstalled: Bool = {
        TrustedPlatformModule.silenceLibrary()
        return access(program, X_OK) == 0
    }()

    public let directory: TemporaryDirectory
    /// The port; nil if the TPM is at a socket.
    private let port: UInt16?
    private let disconnects: Bool
    private var process: SpawnedProcess

    /// Starts a TPM in a new state.
    ///
    /// - Parameters:
    ///   - hasTools: whether it is at a port, where tpm2-tools can use it.
    ///   - disconnects: whether it closes the connection after each response.
    ///   - maker: gives the TPM a certificate; nil for none.
    public init(hasTools: Bool = false, disconnects: Bool = false, maker: TPMMaker? = nil) throws {
        self.disconnects = disconnects
        TrustedPlatformModule.silenceLibrary()
        directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: "\(directory.path)/state", withIntermediateDirectories: false)
        try maker?.setUp("\(directory.path)/state")
        guard hasTools else {
            (port, process) = (nil, try Self.start(directory.path, nil, disconnects))
            return
        }
        // A port that was free may be taken meanwhile.
        for attempt in 1... {
            let port = UInt16.random(in: 20_000...60_000) & ~1
            do {
                (self.port, process) = (port, try Self.start(directory.path, port, disconnects))
                return
            } catch {
                guard attempt < 20 else { throw error }
            }
        }
        throw NotListening()
    }

    private var socket: String { "\(directory.path)/socket" }
    public var address: TPMAddress { port.map { .port($0) } ?? .socket(path: socket) }
    /// The value of LATCHKEY_TPM.
    public var addressText: String { "\(address)" }
    /// The directory of the TPM's memory.
    public var state: String { "\(directory.path)/state" }

    private static func start(_ path: String, _ port: UInt16?, _ disconnects: Bool) throws -> SpawnedProcess {
        unlink("\(path)/socket")
        let option = disconnects ? ",disconnect" : ""
        let place =
            if let port {
                [
                    "--server", "type=tcp,port=\(port),bindaddr=127.0.0.1\(option)", "--ctrl",
                    "type=tcp,port=\(port + 1),bindaddr=127.0.0.1",
                ]
            } else {
                ["--server", "type=unixio,path=\(path)/socket\(option)"]
            }
        let process = try SpawnedProcess(
            [program, "socket", "--tpm2", "--tpmstate", "dir=\(path)/state", "--flags", "not-need-init"] + place,
            environment: ["PATH": "/usr/bin:/bin"], output: "\(path)/log")
        let module = TrustedPlatformModule(port.map { .port($0) } ?? .socket(path: "\(path)/socket"))
        defer { module.close() }
        let isListening = eventually { (try? module.properties()) != nil || !process.isRunning }
        guard isListening, process.isRunning else { throw NotListening() }
        return process
    }

    public struct NotListening: Error {
        public init() {}
    }

    /// Ends the TPM, as if its power failed.
    public func stop() { process.stop(signal: SIGKILL) }

    /// Starts the TPM again after ``stop()``.
    public func start() throws { process = try Self.start(directory.path, port, disconnects) }

    /// Stops the TPM from answering until ``resume()``, as a suspended machine does.
    public func pause() { kill(process.processIdentifier, SIGSTOP) }

    public func resume() { kill(process.processIdentifier, SIGCONT) }

    // MARK: tpm2-tools

    public static let hasTools = isInstalled && access("/usr/bin/tpm2_readpublic", X_OK) == 0

    /// Runs a program of tpm2-tools. No other connection may be open.
    @discardableResult
    public func tool(_ name: String, _ arguments: String...) throws -> Executable.Outcome {
        try run(name, arguments)
    }

    /// As ``tool(_:_:)``.
    ///
    /// - Parameter log: the messages that tpm2-tss logs.
    public func run(_ name: String, _ arguments: [String], log: String = "all+NONE") throws -> Executable.Outcome {
        guard let port else { throw NotListening() }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/\(name)")
        process.arguments = arguments
        process.currentDirectoryURL = URL(filePath: directory.path)
        process.environment = [
            "TPM2TOOLS_TCTI": "swtpm:host=127.0.0.1,port=\(port)", "TSS2_LOG": log, "PATH": "/usr/bin:/bin",
        ]
        process.standardInput = FileHandle.nullDevice
        let output = "\(directory.path)/output"
        guard FileManager.default.createFile(atPath: output, contents: nil) else { throw NotListening() }
        guard let handle = FileHandle(forWritingAtPath: output) else { throw NotListening() }
        process.standardOutput = handle
        process.standardError = handle
        try process.start()
        let status = process.awaitExit()
        return Executable.Outcome(
            status: status, output: try String(contentsOfFile: output, encoding: .utf8), error: "")
    }

    deinit { stop() }
}
