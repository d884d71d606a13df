// SPDX-License-Identifier: Apache-2.0

import Foundation

import SecurityKey

/// A FIDO2 security key without hardware: CTAPHID frames, the commands of CTAP 2.1 that Latchkey
/// needs, and controls for the user and for faults. Its answers are compared with nothing but
/// libfido2.
final class SoftwareAuthenticator: @unchecked Sendable {
    // because `condition` protects every variable

    /// The user's reaction when the key blinks.
    enum Touch: Sendable { case given, denied, never }

    /// A command of CTAP 2 that has arrived, with the sub-command of clientPIN.
    struct Command: Hashable, Sendable {
        let number: UInt8
        var subcommand = 0

        static let makeCredential = Command(number: 1)
        static let getAssertion = Command(number: 2)
        static let getInfo = Command(number: 4)
        static let getRetries = Command(number: 6, subcommand: 1)
        static let getKeyAgreement = Command(number: 6, subcommand: 2)
        static let getPINToken = Command(number: 6, subcommand: 5)
        static let getPINTokenWithPermissions = Command(number: 6, subcommand: 9)
    }

    /// The settings and the faults of a key.
    struct Settings: Sendable {
        var touch = Touch.given
        var pin: String?
        var protocols = [2, 1]
        var hasPermissions = true
        var hasHMACSecret = true
        /// `alwaysUv`: nothing is derived without the PIN.
        var alwaysVerifies = false
        /// Whether a device with `alwaysUv` answers a request without a touch. CTAP 2.1, 6.2.2,
        /// permits it; not every model does.
        var provesWithoutPIN = false
        var isSelfAttested = true
        /// How many cancellations are ignored.
        var ignoredCancellations = 0

        // Faults.
        var supportsCTAP2 = true
        var sendsEndlessKeepalives = false
        var signsWrongly = false
        var relyingParty: String?
        /// Changes the flags of an answer.
        var flags: @Sendable (UInt8) -> UInt8 = { $0 }
        /// Changes the result of hmac-secret before its encryption.
        var secret: @Sendable ([UInt8]) -> [UInt8] = { $0 }
        /// Changes an answer: its status and its CBOR.
        var answer: @Sendable (Command, [UInt8]) -> [UInt8] = { $1 }
        /// Changes the reports of an answer; the command is nil for the start of a channel.
        var reports: @Sendable (Command?, [[UInt8]]) -> [[UInt8]] = { $1 }
        /// Called when a command has arrived, before it is executed.
        var arrival: @Sendable (Command) -> Void = { _ in }
    }

    let condition = NSCondition()
    var settings: Settings
    var state = AuthenticatorState()
    private(set) var openCount = 0
    private(set) var closeCount = 0
    private(set) var cancelCount = 0
    private(set) var commands: [Command] = []
    /// The messages of CTAP 2 in both directions, without the frames.
    private(set) var traffic: [[UInt8]] = []
    private var reports: [[UInt8]] = []
    /// The bytes of a message that is arriving.
    private var message: (channel: [UInt8], command: UInt8, count: Int, bytes: [UInt8])?
    /// The answer that waits for the touch.
    private var waiting: (channel: [UInt8], answer: () throws -> [UInt8])?

    init(_ settings: Settings = Settings()) { self.settings = settings }

    var key: SecurityKey { SecurityKey(transport: self) }

    func change(_ body: (inout Settings) -> Void) {
        condition.withLock { body(&settings) }
    }

    /// The number of connections that are open.
    var connectionCount: Int { condition.withLock { openCount - closeCount } }

    /// Sets how many wrong PINs the device still accepts.
    func setRetries(_ count: Int) {
        condition.withLock { state.retries = count }
    }

    /// Waits until an operation waits for a touch; false after a minute.
    func waitUntilTouchIsAwaited() -> Bool {
        wait { self.waiting != nil }
    }

    /// Waits until no connection is open; false after a minute.
    func waitUntilClosed() -> Bool {
        wait { self.openCount == self.closeCount }
    }

    func waitForCancellation() -> Bool {
        wait { self.cancelCount > 0 }
    }

    /// Waits until the device has received this number of commands.
    func waitForCommands(_ count: Int) -> Bool {
        wait { self.commands.count >= count }
    }

    private func wait(until isDone: () -> Bool) -> Bool {
        let end = Date(timeIntervalSinceNow: 60)
        return condition.withLock {
            while !isDone() { guard condition.wait(until: end) else { return false } }
            return true
        }
    }

    // MARK: Connections

    fileprivate func opened() {
        condition.withLock {
            openCount += 1
            (reports, message, waiting) = ([], nil, nil)
        }
    }

    fileprivate func closed() {
        condition.withLock {
            closeCount += 1
            condition.broadcast()
        }
    }

    fileprivate func read(timeout: Duration) -> [UInt8]? {
        let (seconds, attoseconds) = timeout.components
        let end = Date(timeIntervalSinceNow: Double(seconds) + Double(attoseconds) / 1e18)
        return condition.withLock {
            while reports.isEmpty {
                if settings.sendsEndlessKeepalives { return Self.keepalive(on: state.channel) }
                if let waiting, !condition.wait(until: min(end, Date(timeIntervalSinceNow: 0.02))) {
                    return Self.keepalive(on: waiting.channel)
                }
                guard reports.isEmpty else { break }
                guard condition.wait(until: end) else { return nil }
            }
            return reports.removeFirst()
        }
    }

    fileprivate func write(_ report: [UInt8]) -> Bool {
        guard report.count == 64 else { return false }
        let arrived: (Command, [UInt8], [UInt8])? = condition.withLock {
            defer { condition.broadcast() }
            return receive(report)
        }
        guard let (command, channel, bytes) = arrived else { return true }
        condition.withLock { settings.arrival }(command)
        condition.withLock {
            execute(command, on: channel, bytes)
            condition.broadcast()
        }
        return true
    }

    // MARK: Frames

    /// Returns a complete command of CTAP 2 with its channel and its parameters.
    private func receive(_ report: [UInt8]) -> (Command, [UInt8], [UInt8])? {
        let channel = Array(report[0..<4])
        if report[4] & 0x80 == 0 {
            message?.bytes += report[5...]
        } else if report[4] == 0x91 {
            cancel()
            return nil
        } else {
            message = (channel, report[4] & 0x7F, Int(report[5]) << 8 | Int(report[6]), Array(report[7...]))
        }
        guard let message, message.bytes.count >= message.count else { return nil }
        self.message = nil
        let bytes = Array(message.bytes.prefix(message.count))
        switch message.command {
        case 0x06: sendInit(nonce: bytes)
        case 0x10:
            let subcommand = bytes.first == 6 ? CBOR(bytes.dropFirst())?[2]?.integer ?? 0 : 0
            return (Command(number: bytes.first ?? 0, subcommand: subcommand), channel, Array(bytes.dropFirst()))
        default: send(0x3F, on: channel, [1])
        }
        return nil
    }

    private func sendInit(nonce: [UInt8]) {
        state.channel = (0..<4).map { _ in UInt8.random(in: 1...0xFE) }
        // Protocol 2, version 1.2.3, CBOR and no U2F.
        let capabilities: UInt8 = settings.supportsCTAP2 ? 0x0C : 0x00
        send(0x06, on: [0xFF, 0xFF, 0xFF, 0xFF], nonce + state.channel + [2, 1, 2, 3, capabilities])
    }

    private func execute(_ command: Command, on channel: [UInt8], _ bytes: [UInt8]) {
        commands.append(command)
        traffic.append(bytes)
        let answer: () throws -> [UInt8] = {
            do {
                return [0] + (try self.result(of: command, CBOR(bytes) ?? .map([])).encoded)
            } catch let status as CTAPStatus {
                return [status.rawValue]
            }
        }
        guard needsTouch(command, bytes) else { return finish(command, on: channel, answer) }
        switch settings.touch {
        case .given: finish(command, on: channel, answer)
        case .denied: finish(command, on: channel) { [CTAPStatus.operationDenied.rawValue] }
        case .never: waiting = (channel, answer)
        }
    }

    /// Whether the command waits for the user; without the option `up`, a probe.
    private func needsTouch(_ command: Command, _ bytes: [UInt8]) -> Bool {
        switch command {
        case .makeCredential: true
        case .getAssertion: CBOR(bytes)?[5]?["up"]?.bool ?? true
        default: false
        }
    }

    private func finish(_ command: Command, on channel: [UInt8], _ answer: () throws -> [UInt8]) {
        let bytes = (try? answer()) ?? [CTAPStatus.other.rawValue]
        traffic.append(bytes)
        send(0x10, on: channel, settings.answer(command, bytes))
    }

    private func cancel() {
        cancelCount += 1
        guard let waiting, cancelCount > settings.ignoredCancellations else { return }
        self.waiting = nil
        send(0x10, on: waiting.channel, [CTAPStatus.keepaliveCancel.rawValue])
    }

    private func send(_ command: UInt8, on channel: [UInt8], _ bytes: [UInt8]) {
        var all = [channel + [command | 0x80, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes.prefix(57)]
        var rest = bytes.dropFirst(57)
        var number: UInt8 = 0
        while !rest.isEmpty {
            all.append(channel + [number] + rest.prefix(59))
            rest = rest.dropFirst(59)
            number += 1
        }
        let padded = all.map { $0 + Array(repeating: 0, count: 64 - $0.count) }
        reports += settings.reports(command == 0x10 ? commands.last : nil, padded)
    }

    private static func keepalive(on channel: [UInt8]) -> [UInt8] {
        channel + [0x3B | 0x80, 0, 1, 2] + Array(repeating: 0, count: 56)
    }
}

// MARK: SecurityKeyTransport

extension SoftwareAuthenticator: SecurityKeyTransport {
    func connect() throws(SecurityKeyError) -> any SecurityKeyConnection {
        Connection(self)
    }

    private final class Connection: SecurityKeyConnection {
        private let device: SoftwareAuthenticator

        init(_ device: SoftwareAuthenticator) {
            self.device = device
            device.opened()
        }

        deinit { device.closed() }

        func write(_ report: [UInt8]) -> Bool { device.write(report) }
        func read(timeout: Duration) throws(SecurityKeyError) -> [UInt8]? { device.read(timeout: timeout) }
    }
}
