// SPDX-License-Identifier: Apache-2.0

import EnrolledPrints
import Fingerprint
import FoundationEssentials
import Glibc
import KeychainTesting
import LinuxSystem
import SystemBus
import Testing

/// The real fprintd on a private bus, with libfprint's virtual reader.
final class Fprintd: Sendable {
    static let program = "/usr/libexec/fprintd"
    static var isInstalled: Bool { access(program, X_OK) == 0 && PrivateBus.isInstalled }

    let bus: PrivateBus
    private let directory: TemporaryDirectory
    private let connection: BusConnection
    private let polkit: [BusRegistration]
    private let process: SpawnedProcess

    /// The directory of fprintd's stored prints.
    var storage: String { "\(directory.path)/state" }
    var reader: FingerprintReader { FingerprintReader(on: bus) }

    /// A verifier without latchkey-biometry-digest.
    func verifier(_ lockout: BiometryLockout = BiometryLockout()) -> FingerprintVerifier {
        FingerprintVerifier(on: bus, lockout: lockout)
    }

    init() throws {
        bus = try PrivateBus()
        directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: "\(directory.path)/state", withIntermediateDirectories: false)
        connection = try BusConnection(to: .custom(bus.address))
        polkit = try Self.exportPolkit(on: connection)
        process = try SpawnedProcess(
            [Self.program, "-t"],
            environment: [
                "PATH": "/usr/bin:/bin", "DBUS_SYSTEM_BUS_ADDRESS": bus.address,
                "FP_VIRTUAL_DEVICE": "\(directory.path)/reader", "STATE_DIRECTORY": "\(directory.path)/state",
                "G_MESSAGES_DEBUG": "all",
            ], output: "\(directory.path)/log")
        let (connection, process) = (connection, process)
        let isConnected = eventually {
            (try? connection.owner(of: "net.reactivated.Fprint")) ?? nil != nil || !process.isRunning
        }
        try #require(isConnected && process.isRunning, "\(log)")
    }

    /// The output of fprintd, for the messages of tests.
    var log: String { (try? String(contentsOfFile: "\(directory.path)/log", encoding: .utf8)) ?? "" }

    /// Ends fprintd.
    func stop() { process.stop(signal: SIGKILL) }

    // MARK: The reader

    /// Sends a command to the virtual reader, such as `SCAN finger-A`, when it waits for a finger;
    /// returns when the reader has acted on it.
    ///
    /// A command that comes earlier can be lost, and the reader then waits without end: while it is
    /// being opened it discards commands, and while a scan is being reported it takes the next one
    /// for a part of the same scan.
    func send(_ command: String) throws {
        let device = try device()
        try #require(try eventually { try needsFinger(device) }, "the reader waits for no finger: \(log)")
        let socket = try Socket(connectingTo: "\(directory.path)/reader")
        // Only so that a failure is reported: the reader ends the connection.
        socket.setTimeouts(receiving: 300)
        let bytes = Array(command.utf8)
        try #require(try bytes.withUnsafeBytes { try socket.send($0) } == bytes.count)
        var byte: UInt8 = 0
        let count = try withUnsafeMutableBytes(of: &byte) { try socket.receive(into: $0) }
        try #require(count == 0, "the reader sent a byte")
    }

    /// Whether an operation waits for a scan: fprintd reports it while the reader is ready for a
    /// command, and no longer when the scan has been used.
    private func needsFinger(_ device: ObjectPath) throws -> Bool {
        try connection.property(
            "finger-needed", of: Self.interface, at: device, "net.reactivated.Fprint", timeout: .seconds(60))
    }

    /// Enrolls a finger with five scans.
    func enroll(_ finger: String, print: String) throws {
        let statuses = Collected<String>()
        let rule = SignalRule(from: nil, Self.interface, "EnrollStatus", types: [.string, .boolean])
        let subscription = try connection.subscribe(to: rule) { signal in
            if case .string(let status)? = signal.content.remaining.first { statuses.append(status) }
        }
        try claim()
        try call("EnrollStart", [.string(finger)])
        for number in 1...5 {
            try send("SCAN \(print)")
            try #require(eventually { statuses.all.count >= number }, "\(statuses.all) \(log)")
        }
        try #require(eventually { statuses.all.last == "enroll-completed" }, "\(statuses.all) \(log)")
        try call("EnrollStop")
        try call("Release")
        withExtendedLifetime(subscription) {}
    }

    /// Whether no connection has claimed the reader. fprintd may have yet to notice that a
    /// connection has ended.
    func isReleased() throws -> Bool {
        do {
            try claim()
        } catch BusError.remote(let failure) where failure.name.hasSuffix("AlreadyInUse") {
            return false
        }
        try call("Release")
        return true
    }

    /// Deletes an enrolled finger.
    func delete(_ finger: String) throws {
        try claim()
        try call("DeleteEnrolledFinger", [.string(finger)])
        try call("Release")
    }

    /// Changes the stored print of the right index finger, as only root can.
    func replaceStoredPrint() throws {
        let user = try #require(UserAccount.name(of: geteuid()))
        let file = "\(storage)/\(user)/virtual_device/0/7"
        try #require(access(file, F_OK) == 0)
        try Data("another print".utf8).write(to: URL(filePath: file))
    }

    /// Claims the reader for this object's connection.
    func claim() throws { try call("Claim", [.string("")]) }

    private func call(_ member: String, _ arguments: [BusValue] = []) throws {
        let method = BusMethod("net.reactivated.Fprint", try device(), Self.interface, member)
        try connection.call(method, arguments, timeout: .seconds(60))
    }

    private func device() throws -> ObjectPath {
        var response = try connection.call(
            BusMethod(
                "net.reactivated.Fprint", "/net/reactivated/Fprint/Manager", "net.reactivated.Fprint.Manager",
                "GetDefaultDevice"), returning: [.objectPath], timeout: .seconds(60))
        return try response.next()
    }

    private static let interface = "net.reactivated.Fprint.Device"

    // MARK: polkit

    /// An authority that allows everything.
    private static func exportPolkit(on connection: BusConnection) throws -> [BusRegistration] {
        let authority = try connection.export(at: "/org/freedesktop/PolicyKit1/Authority") { call in
            if call.propertyRequest != nil {
                return call.answer([.dictionary(key: .string, value: .variant, [])])
            }
            guard call.member == "CheckAuthorization" else { return call.fail(.unknownMethod(call.member)) }
            call.answer([.structure([.boolean(true), .boolean(false), .dictionary(key: .string, value: .string, [])])])
        }
        return [authority, try connection.own("org.freedesktop.PolicyKit1")]
    }
}
