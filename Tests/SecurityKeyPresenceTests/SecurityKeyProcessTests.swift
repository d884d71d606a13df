// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
@testable import SecurityKeyTesting
import Testing

/// Commands, a latchkeyd process, and a software authenticator in this process.
///
/// latchkeyd is the unchanged executable. Only libfido2's list of devices is from a preloaded library
/// (Tests/Vectors/security-key-list.c) instead of udev; latchkeyd opens, locks, writes and reads the device as it does
/// one on USB. Not covered: udev, and the kernel's driver of USB devices.
@Suite(
    "Security keys of a latchkeyd process",
    .enabled(
        if: access("/usr/bin/cc", X_OK) == 0 && access("/usr/include/fido.h", R_OK) == 0,
        "a C compiler and libfido2-dev are not installed"))
struct SecurityKeyProcessTests {
    private let directory: TemporaryDirectory
    private let daemon: DaemonProcess
    private var passcode: String { "\(directory.path)/passcode" }

    init() throws {
        directory = try TemporaryDirectory()
        let library = "\(directory.path)/list.so"
        let source = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../Vectors/security-key-list.c").path
        let compiler = try SpawnedProcess(
            ["/usr/bin/cc", "-shared", "-fPIC", "-Wall", "-Werror", "-o", library, source, "-lfido2"],
            environment: ["PATH": "/usr/bin:/bin"], output: "\(directory.path)/compiler")
        try #require(compiler.awaitExit() == 0)
        daemon = try DaemonProcess(
            environment: ["LD_PRELOAD": library, "LISTED_SECURITY_KEYS": "\(directory.path)/devices"])
        try Data("the passcode".utf8).write(to: URL(filePath: passcode))
        try #require(chmod(passcode, 0o600) == 0)
        try plug()
        try #require(try daemon.client("latchkey", ["passcode", "set", "--passcode-file", passcode]).status == 0)
    }

    @Test("A key is enrolled and opens an item by a touch; without it, or with another one, the item stays closed")
    func touch() throws {
        let (blue, red) = (try DeviceFile(SoftwareAuthenticator()), try DeviceFile(SoftwareAuthenticator()))
        defer { for file in [blue, red] { file.remove() } }
        let missing = try enroll("blue")
        #expect(missing.status == 36 && missing.error.contains("no security key is connected"), "\(missing)")
        try plug(blue)
        let enrolled = try enroll("blue")
        #expect(enrolled.status == 0, "\(enrolled)")
        #expect(try daemon.client("latchkey", ["security-key", "list"]).output.contains("blue"))
        try add()
        let touches = blue.authenticator.commands.count { $0 == .getAssertion }

        let found = try find()
        #expect(found.status == 0 && found.output == "s3cret\n", "\(found)")
        #expect(blue.authenticator.commands.count { $0 == .getAssertion } > touches)
        for devices in [[], [red]] {
            try plug(devices)
            let refused = try find()
            #expect(refused.status == 36 && refused.output.isEmpty, "\(refused)")
            #expect(refused.error.contains("none of the enrolled security keys is connected"), "\(refused)")
        }
        blue.authenticator.change { $0.touch = .denied }
        try plug(red, blue)
        #expect(try find().status == 51)
        blue.authenticator.change { $0.touch = .given }
        #expect(try find().output == "s3cret\n")
    }

    @Test("A key that is unplugged while it waits for a touch ends the call", arguments: [true, false])
    func unplugged(_ listsIt: Bool) throws {
        let file = try DeviceFile(SoftwareAuthenticator())
        try plug(file)
        try #require(try enroll("blue").status == 0)
        try add()
        file.authenticator.change { $0.touch = .never }
        let command = try startFinding()
        #expect(file.authenticator.waitUntilTouchIsAwaited())
        if !listsIt { try plug() }
        file.remove()
        #expect(command.wait() != 0)
        #expect(!command.output.contains("s3cret"))
        #expect(daemon.process.isRunning, "\(daemon.logText)")
    }

    @Test("A command that ends while the key waits for a touch ends the wait, and the next command uses the key")
    func abandoned() throws {
        let file = try DeviceFile(SoftwareAuthenticator())
        defer { file.remove() }
        try plug(file)
        try #require(try enroll("blue").status == 0)
        try add()
        file.authenticator.change { $0.touch = .never }
        let command = try startFinding()
        #expect(file.authenticator.waitUntilTouchIsAwaited())
        command.stop(signal: SIGKILL)
        #expect(file.authenticator.waitForCancellation())
        file.authenticator.change { $0.touch = .given }
        #expect(try find().output == "s3cret\n")
    }

    @Test(
        "A key with a PIN is enrolled and used with the PIN that is typed at the prompt, also after a wrong one",
        .enabled(if: access("/usr/bin/pinentry-curses", X_OK) == 0, "pinentry-curses is not installed"))
    func pin() throws {
        let file = try DeviceFile(SoftwareAuthenticator.withPIN("1234"))
        defer { file.remove() }
        try plug(file)
        let terminal = try PseudoTerminal()
        let enrollment = try start(
            ["security-key", "enroll", "blue", "--passcode-file", passcode], on: terminal)
        #expect(terminal.waitForNewPrompt("PIN of the security key:"))
        terminal.type("1111\r")
        #expect(terminal.waitForNewPrompt("The PIN is wrong. 2 attempts are left."))
        terminal.type("1234\r")
        #expect(enrollment.wait() == 0, "\(enrollment.output) \(terminal.screen)")
        try add()
        let command = try start(Self.finding, on: terminal)
        #expect(terminal.waitForNewPrompt("PIN of the security key:"))
        terminal.type("1234\r")
        #expect(command.wait() == 0)
        #expect(command.output == "s3cret\n")
        // Without a terminal, the PIN cannot be asked for.
        #expect(try find().status == 36)
    }

    // MARK: Support

    private static let finding = ["find-generic-password", "-a", "alice", "-s", "bank", "-w"]

    /// Connects these devices, and no others.
    private func plug(_ files: DeviceFile...) throws { try plug(files) }

    private func plug(_ files: [DeviceFile]) throws {
        let lines = files.map { "\($0.path)\n" }.joined()
        try Data(lines.utf8).write(to: URL(filePath: "\(directory.path)/devices"), options: .atomic)
    }

    private func enroll(_ name: String) throws -> Executable.Outcome {
        try daemon.client("latchkey", ["security-key", "enroll", name, "--passcode-file", passcode])
    }

    private func add() throws {
        let added = try daemon.client(
            "latchkey",
            ["add-generic-password", "-a", "alice", "-s", "bank", "-w", "s3cret", "--access-control", "securityKey"])
        try #require(added.status == 0, "\(added)")
    }

    private func find() throws -> Executable.Outcome { try daemon.client("latchkey", Self.finding) }

    private func startFinding() throws -> CommandOnTerminal { try start(Self.finding, on: nil) }

    private func start(_ words: [String], on terminal: PseudoTerminal?) throws -> CommandOnTerminal {
        try CommandOnTerminal(words, on: terminal, clientOf: daemon)
    }
}
