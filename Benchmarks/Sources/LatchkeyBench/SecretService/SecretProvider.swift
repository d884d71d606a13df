// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Glibc

/// The provider of the Secret Service in a measurement.
enum SecretProviderKind: String, CaseIterable, Codable, ExpressibleByArgument {
    case latchkey
    /// latchkey-secret-service as a client of latchkeyd.
    case daemon = "latchkeyd"
    case gnomeKeyring = "gnome-keyring"

    var title: String {
        switch self {
        case .latchkey: "latchkey"
        case .daemon: "latchkey through latchkeyd"
        case .gnomeKeyring: "gnome-keyring"
        }
    }
}

/// A provider with a bus and a home of its own. They end with the last reference to it.
final class SecretProvider {
    let client: SecretBusClient
    // In the order of their ends: the service before the processes that it uses.
    private var service: MeasuredProcess?
    private var daemon: MeasuredProcess?
    private var bus: MeasuredProcess?

    /// The executables of one run.
    struct Programs {
        var secretService: String
        var latchkeyd: String?
    }

    /// - Parameter directory: a new directory, with a path short enough for sockets.
    init(_ kind: SecretProviderKind, _ programs: Programs, in directory: String) throws {
        for path in [directory, "\(directory)/run", "\(directory)/home"] {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        let environment = Self.environment(kind, directory)
        bus = try Self.startBus(directory, environment)
        client = try Self.connect("\(directory)/bus")
        switch kind {
        case .latchkey: break
        case .daemon:
            guard let latchkeyd = programs.latchkeyd else { throw MissingTool("--latchkeyd is not given") }
            daemon = try MeasuredProcess(latchkeyd, ["--user", "--log-level", "error"], environment: environment)
            try Self.wait("latchkeyd") {
                (try? LocalSocket.connect("\(directory)/run/latchkey/socket")).map { close($0) } != nil
            }
        case .gnomeKeyring: break
        }
        service = try Self.start(kind, programs, directory, environment)
        let (client, service) = (client, service)
        try Self.wait(kind.title) {
            guard service?.exitValue(waits: false) == nil else { throw BenchmarkFailure("\(kind.title) has ended") }
            return try client.provider() != nil
        }
        guard try client.provider() == service?.identifier else {
            throw BenchmarkFailure("another process than \(kind.title) provides the service")
        }
        try client.openSession()
    }

    deinit {
        service = nil
        daemon = nil
        bus = nil
    }

    /// The memory of the processes of the provider, without the bus, in KiB.
    var memory: SecretMemoryUse {
        SecretMemoryUse(
            residentKiB: service?.residentKiB ?? 0, peakKiB: service?.peakKiB ?? 0,
            daemonKiB: daemon.map(\.residentKiB))
    }

    // MARK: Starting

    private static func environment(_ kind: SecretProviderKind, _ directory: String) -> [String: String] {
        var environment = [
            "HOME": "\(directory)/home", "XDG_DATA_HOME": "\(directory)/home", "XDG_RUNTIME_DIR": "\(directory)/run",
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(directory)/bus", "PATH": "/usr/bin:/bin",
            // Never the machine's own bus.
            "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(directory)/none", "LATCHKEY_HOME": "\(directory)/home/latchkey",
        ]
        if kind == .latchkey { environment["LATCHKEY_NO_DAEMON"] = "1" }
        return environment
    }

    private static func startBus(_ directory: String, _ environment: [String: String]) throws -> MeasuredProcess {
        let program = try Program.find("dbus-daemon", environment).get()
        // The rules and limits of a session bus. Without directories of services, no other provider is started.
        let configuration = """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              <listen>unix:path=\(directory)/bus</listen>
              <auth>EXTERNAL</auth>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
              </policy>
              <limit name="max_incoming_bytes">1000000000</limit>
              <limit name="max_outgoing_bytes">1000000000</limit>
              <limit name="max_message_size">1000000000</limit>
            </busconfig>
            """
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: "\(directory)/bus.conf"))
        let words = ["--config-file=\(directory)/bus.conf", "--nofork", "--nopidfile", "--nosyslog"]
        return try MeasuredProcess(program.path, words, environment: environment)
    }

    private static func connect(_ socket: String) throws -> SecretBusClient {
        try wait("the bus") { (try? LocalSocket.connect(socket)).map { close($0) } != nil }
        return try SecretBusClient(address: "unix:path=\(socket)")
    }

    private static func start(
        _ kind: SecretProviderKind, _ programs: Programs, _ directory: String, _ environment: [String: String]
    ) throws -> MeasuredProcess {
        guard kind == .gnomeKeyring else {
            return try MeasuredProcess(
                programs.secretService, ["--log-level", "error"], environment: environment)
        }
        let program = try Program.find("gnome-keyring-daemon", environment).get()
        // The password of the new keyring `login` (the default collection).
        try Data("password of the benchmark".utf8).write(to: URL(fileURLWithPath: "\(directory)/password"))
        return try MeasuredProcess(
            program.path, ["--foreground", "--components=secrets", "--unlock"], environment: environment,
            input: "\(directory)/password")
    }

    private static func wait(_ what: String, until isReady: () throws -> Bool) throws {
        let end = Stopwatch.now() + 30_000_000_000
        while try !isReady() {
            guard Stopwatch.now() < end else { throw BenchmarkFailure("\(what) does not answer") }
            usleep(2000)
        }
    }
}

/// The resident memory of a provider, in KiB.
struct SecretMemoryUse: Codable {
    var residentKiB: Int
    /// The most until now.
    var peakKiB: Int
    /// Of latchkeyd; nil if it is not used.
    var daemonKiB: Int?
}
