// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// A session bus in a private directory, with the keychain as its Secret Service. Both end with the
/// object.
final class PrivateSession {
    /// The value of `DBUS_SESSION_BUS_ADDRESS`.
    let address: String
    // Ended in this order.
    private let service: ConversationProcess
    private let bus: ConversationProcess
    private let directory: PrivateBusDirectory

    /// - Parameter passcode: unlocks the keychain; nil for none.
    /// - Throws: errSecNotAvailable if a program is missing, or does not start.
    init(passcode: SharedSecret?) throws(KeychainError) {
        guard let daemon = InstalledProgram.first(named: "dbus-daemon", in: Self.directories, owner: geteuid()) else {
            throw KeychainError(
                .notAvailable, "dbus-daemon is not installed in \(Self.directories.joined(separator: " or "))",
                hint: "install the package dbus or dbus-daemon")
        }
        let program = try CompanionProgram.secretService.installedPath()
        do throws(SystemError) {
            let directory = try PrivateBusDirectory()
            // In a session of its own, so that Ctrl-C reaches only the program.
            let bus = try ConversationProcess(
                executable: daemon.path,
                arguments: [
                    "--config-file=\(directory.configuration)", "--nofork", "--nopidfile", "--nosyslog",
                    "--print-address=1",
                ], environment: ["PATH=/usr/bin:/bin"], startsSession: true)
            guard let printed = try Self.line(of: bus), printed.hasPrefix("unix:") else {
                throw SystemError("start", path: daemon.path, code: EIO)
            }
            // With the terminal of this process, where pinentry asks; and with its standard error, where the service
            // says why a prompt was dismissed.
            let terminal = OpenTerminal.pathOfThisProcess().map { ["--terminal", $0] } ?? []
            let service = try ConversationProcess(
                executable: program,
                arguments: ["--child", "--ready-descriptor", "1", "--log-level", "warning"] + terminal,
                environment: ChildProcess.environment(with: ["DBUS_SESSION_BUS_ADDRESS": printed]),
                startsSession: false, inheritsErrors: true)
            try Self.send(passcode, to: service)
            (self.address, self.directory) = (printed, directory)
            self.bus = bus
            self.service = service
        } catch {
            throw KeychainError(.notAvailable, error.description)
        }
        try requireReady()
    }

    /// Waits until the service answers requests.
    private func requireReady() throws(KeychainError) {
        let answer: String?
        do throws(SystemError) { answer = try Self.line(of: service) } catch { throw KeychainError(error) }
        guard answer != "ready" else { return }
        throw KeychainError(
            .notAvailable, "latchkey-secret-service did not start: \(answer ?? "it has ended")",
            hint: "latchkey status")
    }

    private static func send(
        _ passcode: SharedSecret?, to process: borrowing ConversationProcess
    ) throws(SystemError) {
        let end = SharedSecret(copying: "\n".utf8)
        let line = passcode.map { SharedSecret(joining: [$0, end]) } ?? end
        try line.withUnsafeBytes { (bytes) throws(SystemError) in
            try process.write(bytes, until: BootClock.system.now() &+ timeout, cancellation: Cancellation())
        }
    }

    /// Returns the first line that a process writes; nil if it ends before.
    private static func line(of process: borrowing ConversationProcess) throws(SystemError) -> String? {
        let deadline = BootClock.system.now() &+ timeout
        var line: [UInt8] = []
        while line.count < maxLineLength {
            var byte: UInt8 = 0
            var failure: SystemError?
            let count = withUnsafeMutableBytes(of: &byte) { buffer in
                do throws(SystemError) {
                    return try process.read(into: buffer, until: deadline, cancellation: Cancellation())
                } catch {
                    failure = error
                    return 0
                }
            }
            if let failure { throw failure }
            guard count > 0 else { return nil }
            if byte == UInt8(ascii: "\n") { return String(validating: line, as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }

    private static let directories = ["/usr/local/bin", "/usr/bin", "/bin"]
    private static let maxLineLength = 4096
    /// A minute, in nanoseconds: the passcode of a large keychain takes seconds.
    private static let timeout: UInt64 = 60_000_000_000
}

/// The directory of a private bus, with its configuration and its socket. Only this user can reach it.
final class PrivateBusDirectory {
    private let path: String

    var configuration: String { "\(path)/bus.conf" }

    init() throws(SystemError) {
        let name = "latchkey-session-\(RandomBytes.hexadecimal(count: 8))"
        path = "\(Self.parent)/\(name)"
        guard mkdir(path, 0o700) == 0 else { throw .last("create the directory", path: path) }
        let file = try OwnedDescriptor(opening: configuration, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
        try Array(Self.text(path).utf8).withUnsafeBufferPointer { (bytes) throws(SystemError) in
            try file.write(UnsafeRawBufferPointer(bytes), path: configuration)
        }
    }

    deinit {
        for name in ["bus", "bus.conf"] { unlink("\(path)/\(name)") }
        rmdir(path)
    }

    private static var parent: String {
        if let runtime = SecureEnvironment.value(of: "XDG_RUNTIME_DIR"), runtime.hasPrefix("/"),
            runtime.utf8.count <= maxParentLength, access(runtime, W_OK) == 0,
            ((try? FileStatus.of(runtime)) ?? nil)?.owner == geteuid()
        {
            return runtime
        }
        return "/tmp"
    }

    /// The path of a socket has at most 107 bytes (unix(7)); those that follow are `/latchkey-session-`, 16
    /// digits and `/bus`.
    private static let maxParentLength = 107 - 38

    /// Without directories of services: nothing else is started on the bus. The limits are those of a
    /// desktop's session bus; without them, dbus-daemon ends a connection that sends more than 32 MiB.
    private static func text(_ path: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>session</type>
          <listen>unix:path=\(escaped(path))/bus</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow send_destination="*" eavesdrop="true"/>
            <allow eavesdrop="true"/>
            <allow own="*"/>
          </policy>
          <limit name="max_incoming_bytes">1000000000</limit>
          <limit name="max_incoming_unix_fds">250000000</limit>
          <limit name="max_outgoing_bytes">1000000000</limit>
          <limit name="max_outgoing_unix_fds">250000000</limit>
          <limit name="max_message_size">1000000000</limit>
          <limit name="max_completed_connections">100000</limit>
          <limit name="max_incomplete_connections">10000</limit>
          <limit name="max_connections_per_user">100000</limit>
          <limit name="max_names_per_connection">50000</limit>
          <limit name="max_match_rules_per_connection">50000</limit>
          <limit name="max_replies_per_connection">50000</limit>
        </busconfig>

        """
    }

    /// The path in an address of D-Bus, where other characters are `%` and two digits; these are also
    /// plain in XML.
    private static func escaped(_ path: String) -> String {
        path.utf8.map { byte in
            Self.isPlain(byte) ? String(Unicode.Scalar(byte)) : "%\(Hexadecimal.text(byte))"
        }.joined()
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-_/.".utf8.contains(byte)
        }
    }
}
