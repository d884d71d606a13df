// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import LinuxSystem

/// A message bus (dbus-daemon) for one test. Every program may do everything on it.
public final class PrivateBus: Sendable {
    public static let program = "/usr/bin/dbus-daemon"
    /// Whether the tests that need a bus can run.
    public static var isInstalled: Bool { access(program, X_OK) == 0 }

    private let directory: TemporaryDirectory
    private let process: SpawnedProcess

    /// The address, for `DBUS_SYSTEM_BUS_ADDRESS`.
    public var address: String { "unix:path=\(directory.path)/bus" }

    /// - Parameters:
    ///   - directory: where the socket is made; a bus that was stopped starts again at the same address in the same
    ///     directory.
    ///   - services: directories with files of services that the bus starts; the first file of a name counts.
    ///   - environment: the variables of these services.
    public init(
        in directory: TemporaryDirectory? = nil, services: [String] = [], environment: [String: String] = [:]
    ) throws {
        let directory = try directory ?? TemporaryDirectory()
        let path = directory.path
        try Data(Self.configuration(path, services).utf8).write(to: URL(filePath: "\(path)/bus.conf"))
        unlink("\(path)/bus")
        process = try SpawnedProcess(
            [Self.program, "--config-file=\(path)/bus.conf", "--nofork", "--nopidfile", "--nosyslog"],
            environment: ["PATH": "/usr/bin:/bin"].merging(environment) { $1 }, output: "\(path)/bus.log")
        self.directory = directory
        let (process, socket) = (process, "\(path)/bus")
        let isListening = eventually { (try? Socket(connectingTo: socket)) != nil || !process.isRunning }
        guard isListening, process.isRunning else { throw NotListening() }
    }

    public struct NotListening: Error {}

    /// Ends the bus, and with it all its connections.
    public func stop() { process.stop(signal: SIGKILL) }

    private static func configuration(_ directory: String, _ services: [String]) -> String {
        // Without a set-user-id helper, the bus of the machine starts no service.
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>\(services.isEmpty ? "system" : "session")</type>
          <listen>unix:path=\(directory)/bus</listen>
          <auth>EXTERNAL</auth>
          \(services.map { "<servicedir>\($0)</servicedir>" }.joined(separator: "\n  "))
          <policy context="default">
            <allow user="*"/>
            <allow own="*"/>
            <allow send_destination="*"/>
            <allow send_type="signal"/>
            <allow receive_sender="*"/>
          </policy>
        </busconfig>
        """
    }
}
