// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting

/// The logind of python-dbusmock, used by busctl.
struct ForeignLogin {
    private static let template = "/usr/lib/python3/dist-packages/dbusmock/templates/logind.py"
    private static let busctl = "/usr/bin/busctl"
    /// Whether the programs are installed.
    static var isInstalled: Bool { access(template, R_OK) == 0 && access(busctl, X_OK) == 0 }

    private let address: String
    private let output: String
    private let process: SpawnedProcess

    init(_ address: String, output: String) throws {
        self.address = address
        self.output = output
        process = try SpawnedProcess(
            ["/usr/bin/python3", "-m", "dbusmock", "--system", "--template", "logind"],
            environment: ["PATH": "/usr/bin:/bin", "DBUS_SYSTEM_BUS_ADDRESS": address], output: output)
        let (login, process) = (self, process)
        guard eventually({ (try? login.call("org.freedesktop.DBus.Peer", "Ping")) != nil || !process.isRunning }),
            process.isRunning
        else { throw NotRunning() }
    }

    struct NotRunning: Error {}
    struct Refused: Error { let output: String }

    /// The inhibitors, as busctl prints them.
    var inhibitors: String { (try? call("org.freedesktop.login1.Manager", "ListInhibitors")) ?? "" }

    func addSession(_ identifier: String, user: UInt32) throws {
        try call("org.freedesktop.DBus.Mock", "AddSession", ["ssusb", identifier, "seat0", "\(user)", "alice", "true"])
    }

    func lockSession(_ identifier: String) throws {
        try call("org.freedesktop.login1.Session", "Lock", at: "/org/freedesktop/login1/session/\(identifier)")
    }

    func prepareForSleep(_ isBefore: Bool) throws {
        let arguments = ["org.freedesktop.login1.Manager", "PrepareForSleep", "b", "1", "b", "\(isBefore)"]
        try call("org.freedesktop.DBus.Mock", "EmitSignal", ["sssav"] + arguments)
    }

    @discardableResult
    private func call(
        _ interface: String, _ member: String, _ arguments: [String] = [], at path: String = "/org/freedesktop/login1"
    ) throws -> String {
        let directory = try TemporaryDirectory()
        let command = ["--system", "--no-pager", "call", "org.freedesktop.login1", path, interface, member]
        let process = try SpawnedProcess(
            [Self.busctl] + command + arguments,
            environment: ["PATH": "/usr/bin:/bin", "DBUS_SYSTEM_BUS_ADDRESS": address],
            output: "\(directory.path)/output")
        let status = process.awaitExit()
        let text = try String(contentsOfFile: "\(directory.path)/output", encoding: .utf8)
        guard status == 0 else { throw Refused(output: text) }
        return text
    }
}
