// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import Testing

/// The programs themselves with clients that others have written; `make secret-service-judges` runs
/// more of them, and gnome-keyring as the reference.
@Suite(
    "Foreign clients of the Secret Service", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"),
    .enabled(if: access("/usr/bin/python3", X_OK) == 0, "python3 is not installed"))
struct ForeignClientTests {
    private static let script = URL(filePath: #filePath)
        .appending(path: "../../../Scripts/check/secret-service-judges").standardized.path

    @Test(
        "Each client works with the keychain as it does with gnome-keyring", .long,
        arguments: ["secret-tool", "git", "docker", "secretstorage", "keyring", "libsecret"])
    func clients(_ name: String) throws { try Self.run(name) }

    @Test("An item of each client is read, changed and deleted through each of the others")
    func table() throws { try Self.run("table") }

    /// Runs some clients. A client that is not installed is reported as skipped.
    private static func run(_ name: String) throws {
        let directory = try TemporaryDirectory()
        let binaries = URL(filePath: Executable.path("latchkey")).deletingLastPathComponent().path
        let outcome = try Executable.run(
            "/usr/bin/python3", [script, "--binaries", binaries, "--only", name], home: directory.path,
            environment: ["TMPDIR": directory.path])
        let lines = outcome.output.split(separator: "\n")
        let skipped = lines.filter { $0.hasPrefix("skipped") && !$0.contains("PyPI") }
        for line in skipped { reportSkipped("\(line.dropFirst("skipped".count).drop { $0 == " " })") }
        let failures = lines.filter { $0.hasPrefix("FAILED") }.joined(separator: "\n")
        #expect(outcome.status == 0 || outcome.status == 77 && !skipped.isEmpty, "\(failures)\n\(outcome.error)")
    }
}
