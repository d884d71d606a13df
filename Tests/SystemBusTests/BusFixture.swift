// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Synchronization
import SystemBus
import Testing

/// A private bus, and connections to it.
struct BusFixture {
    let bus: PrivateBus

    init() throws { bus = try PrivateBus() }

    func connect(_ limits: BusLimits = BusLimits(), onEnd: @escaping @Sendable () -> Void = {}) throws -> BusConnection
    {
        try BusConnection(to: .custom(bus.address), limits: limits, onEnd: onEnd)
    }

    /// Runs a program that talks to the bus; returns its exit value and its output.
    func run(_ words: [String]) throws -> (status: Int32, output: String) {
        let directory = try TemporaryDirectory()
        let process = try SpawnedProcess(
            words, environment: ["PATH": "/usr/bin:/bin", "DBUS_SYSTEM_BUS_ADDRESS": bus.address],
            output: "\(directory.path)/output")
        let status = process.awaitExit()
        return (status, try String(contentsOfFile: "\(directory.path)/output", encoding: .utf8))
    }
}

/// Values that a handler has received.
final class Received<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])

    var all: [Value] { values.withLock { $0 } }
    var count: Int { values.withLock { $0.count } }
    func append(_ value: Value) { values.withLock { $0.append(value) } }
}

extension BusConnection {
    /// A method of an object of this connection.
    func method(_ path: ObjectPath, _ member: String) -> BusMethod {
        BusMethod(uniqueName, path, "org.example.Test", member)
    }

    /// An object that answers every call with its arguments.
    func exportEcho(holdsSecrets: Bool = false) throws -> BusRegistration {
        try export(at: "/echo", holdsSecrets: holdsSecrets) { $0.answer($0.arguments.remaining) }
    }
}

/// The error that `body` throws.
func error(of body: () throws -> Void) -> BusError? {
    do {
        try body()
        return nil
    } catch {
        return error as? BusError
    }
}
