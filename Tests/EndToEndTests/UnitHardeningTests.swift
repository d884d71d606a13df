// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import Testing

/// How much the units give the services, as systemd rates it. A new setting may only lower a figure.
@Suite("Hardening of the units")
struct UnitHardeningTests {
    struct Unit: Sendable, CustomTestStringConvertible {
        let path: String
        /// The highest figure that is accepted, from 0 (nothing is exposed) to 10.
        let exposure: Double
        var testDescription: String { path }
    }

    private static let units = [
        Unit(path: "system/latchkeyd.service", exposure: 0.8),
        Unit(path: "system/latchkey-biometry-digest@.service", exposure: 1.1),
        Unit(path: "user/latchkeyd.service", exposure: 6.0),
        Unit(path: "user/latchkey-agent.service", exposure: 6.3),
        Unit(path: "user/latchkey-secret-service.service", exposure: 6.3),
    ]

    @Test(
        "systemd rates each unit as its figure says, or better",
        .enabled(if: access("/usr/bin/systemd-analyze", X_OK) == 0, "needs systemd-analyze"), arguments: units)
    func exposure(_ unit: Unit) throws {
        let directory = try TemporaryDirectory()
        let output = "\(directory.path)/output"
        let process = try SpawnedProcess(
            ["/usr/bin/systemd-analyze", "security", "--no-pager", "--offline=yes", Self.folder(unit.path)],
            environment: ["LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"], output: output)
        _ = process.awaitExit()
        let said = try String(contentsOfFile: output, encoding: .utf8)
        let match = try #require(said.firstMatch(of: /Overall exposure level for \S+: (\d+\.\d)/), "\(said)")
        let figure = try #require(Double(match.1))
        #expect(figure <= unit.exposure, "\(said)")
    }

    /// With one of these, a user's service manager without privileges does not start the service (they drop
    /// capabilities), or puts it into a user namespace, where latchkeyd cannot see the programs that call it. Later
    /// versions of systemd create that namespace for settings that 252 only ignores.
    private static let refused = [
        "CapabilityBoundingSet", "PrivateDevices", "ProtectClock", "ProtectKernelLogs", "ProtectKernelModules",
        "PrivateUsers", "ProtectSystem", "ProtectHome", "ProtectProc", "ProcSubset", "ProtectControlGroups",
        "ProtectKernelTunables", "PrivateTmp", "PrivateMounts", "PrivateNetwork", "PrivateIPC", "ReadOnlyPaths",
        "ReadWritePaths", "InaccessiblePaths", "BindPaths", "RootDirectory", "User", "SupplementaryGroups",
    ]

    @Test("The units of a user have no setting that needs privileges, or a user namespace")
    func userUnits() throws {
        for unit in Self.units where unit.path.hasPrefix("user/") {
            let text = try String(contentsOfFile: Self.folder(unit.path), encoding: .utf8)
            let names = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { line in
                line.contains("=") ? line.prefix { $0 != "=" } : nil
            }
            #expect(names.count > 10)
            #expect(names.filter { Self.refused.contains(String($0)) } == [], "\(unit.path)")
        }
    }

    @Test("The system calls that latchkeyd makes, and those of a pinentry, are not filtered")
    func calls() throws {
        for name in ["latchkeyd", "latchkey-agent", "latchkey-secret-service"] {
            let text = try String(contentsOfFile: Self.folder("user/\(name).service"), encoding: .utf8)
            #expect(text.contains("\nSystemCallFilter=@system-service memfd_secret\n"))
            // A filtered call fails; it does not end the process.
            #expect(text.contains("\nSystemCallErrorNumber=EPERM\n"))
        }
    }

    private static func folder(_ name: String) -> String {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Packaging/systemd/\(name)")
            .standardized.path
    }
}
