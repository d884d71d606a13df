// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A software TPM (swtpm) in a new state, at a port of this machine.
final class MeasuredTPM {
    /// In the form that both LATCHKEY_TPM and tpm2-tss read.
    let address: String
    private let process: MeasuredProcess

    init(in directory: String) throws {
        guard FileManager.default.isExecutableFile(atPath: Self.program) else {
            throw BenchmarkFailure("cannot run \(Self.program); install swtpm")
        }
        // Another program may have the port.
        for _ in 0..<5 {
            let port = UInt16.random(in: 20_000...60_000) & ~1
            let state = "\(directory)/tpm \(port)"
            try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
            let started = try Self.start(port, state)
            let address = "swtpm:host=127.0.0.1,port=\(port)"
            if Self.answers(address) {
                (self.address, process) = (address, started)
                return
            }
        }
        throw BenchmarkFailure("\(Self.program) does not answer")
    }

    /// tpm2-tss expects the second channel at the next port.
    private static func start(_ port: UInt16, _ state: String) throws -> MeasuredProcess {
        try MeasuredProcess(
            program,
            [
                "socket", "--tpm2", "--tpmstate", "dir=\(state)", "--flags", "not-need-init", "--server",
                "type=tcp,port=\(port),bindaddr=127.0.0.1", "--ctrl", "type=tcp,port=\(port + 1),bindaddr=127.0.0.1",
            ], environment: [:])
    }

    private static func answers(_ address: String) -> Bool {
        for _ in 0..<50 {
            if (try? EnclaveFloor(address, hasSession: false)) != nil { return true }
            usleep(100_000)
        }
        return false
    }

    private static let program = "/usr/bin/swtpm"
}
