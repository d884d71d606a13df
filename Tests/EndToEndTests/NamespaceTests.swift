// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainModel
import KeychainTesting
@testable import LatchkeyService
import Testing

/// Detection of sandboxes, with real kernel namespaces.
@Suite("Namespaces", .serialized)
struct NamespaceTests {
    static let isPossible: Bool = {
        guard geteuid() == 0, access("/usr/bin/unshare", X_OK) == 0, access("/usr/sbin/chroot", X_OK) == 0 else {
            return false
        }
        // In a container even root may not be allowed to create namespaces.
        return (try? Executable.run("/usr/bin/unshare", ["--mount", "--pid", "--fork", "/bin/true"], home: "").status)
            == 0
    }()
    static let reason: Comment = "needs root, unshare(1) and namespaces"

    /// A process in separate namespaces, with Flatpak's file in its root directory.
    private final class Sandbox {
        let directory: TemporaryDirectory
        private let outer: SpawnedProcess

        init(flatpakInfo: String) throws {
            directory = try TemporaryDirectory()
            let root = "\(directory.path)/root"
            try FileManager.default.createDirectory(atPath: "\(root)/usr", withIntermediateDirectories: true)
            try flatpakInfo.write(toFile: "\(root)/.flatpak-info", atomically: true, encoding: .utf8)
            for name in ["bin", "lib", "lib64"] {
                try FileManager.default.createSymbolicLink(
                    atPath: "\(root)/\(name)", withDestinationPath: "usr/\(name)")
            }
            let script = "mount --rbind /usr '\(root)/usr' && exec chroot '\(root)' /bin/sleep 600"
            outer = try SpawnedProcess(
                ["/usr/bin/unshare", "--mount", "--pid", "--fork", "--kill-child", "/bin/sh", "-c", script],
                environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"], output: "\(directory.path)/said")
        }

        deinit { _ = outer.stop(signal: SIGKILL) }

        /// The id of the inner process outside of the namespace; nil before it has started.
        var inner: Int32? {
            let numbers =
                (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { Int32($0) } ?? []
            return numbers.first { number in
                let status = (try? String(contentsOfFile: "/proc/\(number)/status", encoding: .utf8)) ?? ""
                return status.contains("PPid:\t\(outer.processIdentifier)\n") && status.hasPrefix("Name:\tsleep\n")
            }
        }
    }

    @Test(
        "A process in a sandbox is identified by the file in its root, across namespaces",
        .enabled(if: isPossible, reason),
        arguments: [
            (
                "[Application]\nname=org.example.App\n",
                CallerIdentity.Sandbox.application(group: "flatpak.org.example.App")
            ),
            ("[Application]\nname=../escape\n", .unidentified), ("", .unidentified),
        ])
    func flatpak(_ info: String, _ expected: CallerIdentity.Sandbox) throws {
        let sandbox = try Sandbox(flatpakInfo: info)
        #expect(eventually { sandbox.inner != nil })
        let reader = CallerReader(commands: [], entitlements: nil)
        let reading = reader.read(
            user: geteuid(), process: try #require(sandbox.inner),
            claim: CallerIdentity(executable: "/x", declaredGroups: ["G"]))
        #expect(reader.identity(reading).sandbox == expected)
    }

    @Test(
        "In system mode a program in a namespace with a hidden root has no group and reads no items",
        .enabled(if: isPossible && SystemDaemon.isPossible, reason))
    func hidden() throws {
        let daemon = try SystemDaemon()
        let user: uid_t = 61_951
        #expect(try daemon.run(as: user, "ProofWorker", ["item", "add", "a", "v"]) == "0\n")
        #expect(try daemon.run(inNamespaceAs: user, "ProofWorker", ["item", "find", "a", "-"]) == "-34018\n")
        #expect(try daemon.run(inNamespaceAs: user, "ProofWorker", ["item", "add", "b", "w"]) == "-34018\n")
        #expect(try daemon.run(as: user, "ProofWorker", ["item", "find", "b", "-"]) == "-25300\n")
    }
}
