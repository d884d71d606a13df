// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainTesting
import LinuxSystem
@testable import SecurityKey
@testable import SecurityKeyTesting
import Synchronization

/// A device file for a software authenticator that answers another process: a raw terminal that passes on reports of 64
/// bytes as `/dev/hidrawN` does.
final class DeviceFile: Sendable {
    let authenticator: SoftwareAuthenticator
    let path: String
    private let main: Int32
    private let device: Int32
    private let hasEnded = Atomic(false)
    private let isCarrying = Atomic(true)

    struct Failure: Error { let code: Int32 }

    init(_ authenticator: SoftwareAuthenticator) throws {
        self.authenticator = authenticator
        (main, device, path) = try PseudoTerminal.openPair()
        var settings = termios()
        guard tcgetattr(device, &settings) == 0 else { throw Failure(code: errno) }
        cfmakeraw(&settings)
        guard tcsetattr(device, TCSANOW, &settings) == 0, BackgroundThread.run({ [self] in carry() }) else {
            throw Failure(code: errno)
        }
    }

    /// Unplugs the device: nothing answers at the path any more.
    func remove() {
        hasEnded.store(true, ordering: .releasing)
        _ = eventually { !isCarrying.load(ordering: .acquiring) }
        close(device)
        close(main)
    }

    /// Carries reports in both directions.
    private func carry() {
        defer { isCarrying.store(false, ordering: .releasing) }
        var (connection, arrived) = (try? authenticator.connect(), [UInt8]())
        while !hasEnded.load(ordering: .acquiring) {
            arrived += bytes()
            while arrived.count >= Self.numberedCount {
                // The first byte is the report's number.
                let report = Array(arrived[1..<Self.numberedCount])
                arrived.removeFirst(Self.numberedCount)
                if report[4] == Self.initCommand {
                    // A program that has opened the device gets nothing that was sent to an earlier one.
                    tcflush(device, TCIFLUSH)
                    connection = try? authenticator.connect()
                }
                _ = connection?.write(report)
            }
            guard let report = try? connection?.read(timeout: .milliseconds(5)) else { continue }
            _ = report.withUnsafeBytes { Glibc.write(main, $0.baseAddress, $0.count) }
        }
    }

    /// Returns the bytes that have arrived, without waiting.
    private func bytes() -> [UInt8] {
        var request = pollfd(fd: main, events: Int16(POLLIN), revents: 0)
        guard poll(&request, 1, 0) == 1 else { return [] }
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = Glibc.read(main, &buffer, buffer.count)
        return Array(buffer.prefix(max(0, count)))
    }

    /// The length of a report with its number, in bytes.
    private static let numberedCount = 65
    /// CTAPHID_INIT (CTAP 2.1, 11.2.9.1.3), with the bit of a first packet.
    private static let initCommand: UInt8 = 0x86
}
