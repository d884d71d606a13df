// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
@testable import LatchkeyClient
import LatchkeyService
import LinuxSystem
import Testing

/// A system daemon that is not running causes an error, and no separate keychain is created.
@Suite("A system daemon that is not running", .serialized)
struct SystemDaemonAwayTests {
    /// A daemon in system mode that runs as this user, and the homes of its clients.
    private final class SystemFixture {
        let directory: TemporaryDirectory
        let daemon: DaemonProcess
        let socket: String

        init() throws {
            directory = try TemporaryDirectory()
            let folder = "\(directory.path)/rundir"
            socket = "\(folder)/socket"
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
            daemon = try DaemonProcess(
                [
                    "--system", "--socket", socket, "--state-directory", "\(directory.path)/system", "--subuid",
                    "\(directory.path)/subuid",
                ], in: directory)
        }

        var mark: String { "\(directory.path)/state/latchkey/system-daemon" }
        var database: String { "\(directory.path)/data/latchkey/keychain.db" }

        func run(_ name: String, _ arguments: String..., more: [String: String] = [:]) throws -> Executable.Outcome {
            let environment = [
                "XDG_DATA_HOME": "\(directory.path)/data", "XDG_STATE_HOME": "\(directory.path)/state",
                "XDG_RUNTIME_DIR": "\(directory.path)/none", "LATCHKEY_SYSTEM_SOCKET": socket, "HOME": directory.path,
            ]
            return try Executable.run(name, arguments, home: "", environment: environment.merging(more) { $1 })
        }
    }

    @Test(
        "WIRE-14: after a system daemon has answered once, its absence is an error, no keychain is created, and its own is kept"
    )
    func away() throws {
        let fixture = try SystemFixture()
        #expect(try fixture.run("ProofWorker", "item", "add", "a", "v").output == "0\n")
        #expect(access(fixture.mark, F_OK) == 0)
        #expect(fixture.daemon.stop() == 0)

        #expect(try fixture.run("ProofWorker", "item", "find", "a", "-").output == "-25291\n")
        #expect(try fixture.run("ProofWorker", "item", "add", "b", "w").output == "-25291\n")
        for command in ["status", "doctor"] {
            let said = try fixture.run("latchkey", command)
            #expect(
                said.status != 0
                    && (said.output + said.error).contains("the system's latchkeyd keeps this user's keychain"),
                "\(said)")
            #expect((said.output + said.error).contains("latchkey daemon --system --release"), "\(said)")
        }
        #expect(access(fixture.database, F_OK) != 0)

        try fixture.daemon.start()
        #expect(try fixture.run("ProofWorker", "item", "find", "a", "-").output == "0 v\n")
    }

    @Test(
        "--system --release is refused while the daemon is running, and afterwards lets programs open a separate keychain"
    )
    func release() throws {
        let fixture = try SystemFixture()
        #expect(try fixture.run("ProofWorker", "item", "add", "a", "v").output == "0\n")
        let early = try fixture.run("latchkeyd", "--system", "--release")
        #expect(early.status != 0 && early.error.contains("is running, and programs use it"), "\(early)")
        #expect(fixture.daemon.stop() == 0)
        #expect(try fixture.run("latchkeyd", "--system", "--release").status == 0)
        #expect(try fixture.run("ProofWorker", "item", "find", "a", "-").output == "-25300\n")
        #expect(try fixture.run("latchkeyd", "--system", "--release").error.contains("did not depend"))
    }

    @Test("LATCHKEY_HOME and a keychain in memory are used regardless of the marker file")
    func named() throws {
        let fixture = try SystemFixture()
        #expect(try fixture.run("ProofWorker", "item", "add", "a", "v").output == "0\n")
        #expect(fixture.daemon.stop() == 0)
        for variables in [["LATCHKEY_HOME": "\(fixture.directory.path)/own"], ["LATCHKEY_EPHEMERAL": "1"]] {
            #expect(try fixture.run("ProofWorker", "item", "find", "a", "-", more: variables).output == "-25300\n")
        }
    }

    @Test(
        "client.conf requires the daemon always, or only if its socket is enabled",
        arguments: [
            ("daemon = system", true, true), ("daemon = when-enabled", false, true), ("# nothing", false, false),
        ])
    func configuration(_ text: String, _ whenDisabled: Bool, _ whenEnabled: Bool) throws {
        let directory = try TemporaryDirectory()
        let (path, link) = ("\(directory.path)/client.conf", "\(directory.path)/enabled")
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        chmod(path, 0o644)
        func isRequired() throws -> Bool {
            try ClientConfiguration.load(from: path, owner: geteuid(), enabled: link).requiresSystemDaemon
        }
        #expect(try isRequired() == whenDisabled)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/nowhere")
        #expect(try isRequired() == whenEnabled)
        try "daemon = maybe".write(toFile: path, atomically: true, encoding: .utf8)
        chmod(path, 0o644)
        #expect(throws: (any Error).self) { try isRequired() }
    }

    @Test(
        "A socket from the environment is trusted only in a directory that root or the caller owns or could have created"
    )
    func socketDirectories() throws {
        let directory = try TemporaryDirectory()
        let (safe, open) = ("\(directory.path)/safe", "\(directory.path)/open")
        for (path, mode) in [(safe, 0o755), (open, 0o777)] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            chmod(path, mode_t(mode))
        }
        func isTrusted(_ path: String, _ user: UInt32) -> Bool {
            SocketConnector.system("\(path)/socket").isTrusted(user)
        }
        #expect(isTrusted(safe, 0) && isTrusted(safe, geteuid()))
        #expect(!isTrusted(safe, 12345))
        #expect(geteuid() == 0 || !isTrusted(open, geteuid()))
        guard geteuid() == 0 else { return }
        // Directories that the daemon's user owns: one in a directory that only root can write, and
        // one in a directory that all users can write.
        for (parent, expected) in [(safe, true), (open, false)] {
            let path = "\(parent)/daemon"
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
            chown(path, 12345, 12345)
            #expect(isTrusted(path, 12345) == expected)
        }
        #expect(!SocketConnector.system("socket").isTrusted(12345))
    }

    @Test(
        "The parent directory of a path",
        arguments: [("/a/b", "/a"), ("/a", "/"), ("/a//b/", "/a"), ("a/b", "a"), ("a", "."), ("/", nil), ("", nil)])
    func parents(_ path: String, _ parent: String?) {
        #expect(ParentDirectory.of(path) == parent)
    }
}
