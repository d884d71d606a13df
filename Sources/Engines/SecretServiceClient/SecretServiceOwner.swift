// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
public import SystemBus

/// The connection that has the name of the Secret Service, `org.freedesktop.secrets`, on a bus.
public struct SecretServiceOwner: Hashable, Sendable {
    public let connection: BusName
    public let program: BusProgram
    /// Whether it is Latchkey's own service: by the file of its program, or by a name that no other program has.
    public let isOwn: Bool

    /// Returns the owner; nil if there is none. No program is started.
    public static func current(
        on address: BusAddress, limits: ClientLimits = ClientLimits()
    ) throws(SecretServiceClientError) -> SecretServiceOwner? {
        try onConnection(to: address, limits) { bus throws(SecretServiceClientError) in try current(on: bus) }
    }

    /// Returns the owner, after the bus has read the files of its services again, and has started the service if none
    /// runs.
    ///
    /// - Throws: ``SecretServiceClientError/absent`` if the bus cannot start one.
    public static func started(
        on address: BusAddress, limits: ClientLimits = ClientLimits()
    ) throws(SecretServiceClientError) -> SecretServiceOwner {
        try onConnection(to: address, limits) { bus throws(SecretServiceClientError) in
            try withErrors(as: SecretServiceClientError.init) { () throws(BusError) in
                _ = try bus.call(.bus("ReloadConfig"), timeout: limits.timeout)
            }
            return try started(on: bus, limits)
        }
    }

    private static func onConnection<Value>(
        to address: BusAddress, _ limits: ClientLimits,
        _ body: (BusConnection) throws(SecretServiceClientError) -> Value
    ) throws(SecretServiceClientError) -> Value {
        let bus = try withErrors(as: SecretServiceClientError.init) { () throws(BusError) in
            try BusConnection(to: address, limits: ClientLimits.bus, timeout: limits.timeout)
        }
        defer { bus.close() }
        return try body(bus)
    }

    // MARK: On a connection

    /// Returns the owner. The bus starts it if it can.
    static func started(
        on bus: BusConnection, _ limits: ClientLimits
    ) throws(SecretServiceClientError) -> SecretServiceOwner {
        if let owner = try current(on: bus) { return owner }
        var failure = SecretServiceClientError.absent
        do throws(BusError) {
            try bus.call(
                BusMethod(name, "/org/freedesktop/secrets", "org.freedesktop.DBus.Peer", "Ping"),
                timeout: limits.timeout)
        } catch {
            // The answer of the program does not matter, if there is one now.
            let answered = SecretServiceClientError(error)
            if answered != .ended { failure = answered }
        }
        guard let owner = try current(on: bus) else { throw failure }
        return owner
    }

    private static func current(on bus: BusConnection) throws(SecretServiceClientError) -> SecretServiceOwner? {
        try withErrors(as: SecretServiceClientError.init) { () throws(BusError) in
            guard let connection = try bus.owner(of: name) else { return nil }
            let program = bus.program(connection)
            let portal = try bus.owner(of: ownName)
            return SecretServiceOwner(
                connection: connection, program: program,
                isOwn: program.name == ownProgram || portal == connection)
        }
    }

    private static let name: BusName = "org.freedesktop.secrets"
    private static let ownProgram = "latchkey-secret-service"
    /// The bus name of latchkey-secret-service for xdg-desktop-portal.
    private static let ownName: BusName = "org.freedesktop.impl.portal.desktop.latchkey"
}
