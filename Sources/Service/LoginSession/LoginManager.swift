// SPDX-License-Identifier: Apache-2.0

internal import SystemBus

/// The methods and signals of logind (org.freedesktop.login1(5)).
struct LoginManager: Sendable {
    let bus: BusConnection

    static let name: BusName = "org.freedesktop.login1"
    static let path: ObjectPath = "/org/freedesktop/login1"
    static let sessions: ObjectPath = "/org/freedesktop/login1/session"
    static let managerInterface = "org.freedesktop.login1.Manager"
    static let sessionInterface = "org.freedesktop.login1.Session"

    // MARK: Methods

    /// Returns the objects of all sessions of a user; nil for all users.
    func sessions(of user: UInt32?) throws(BusError) -> [ObjectPath] {
        let row = BusType.structure([.string, .uint32, .string, .string, .objectPath])
        var response = try bus.call(method("ListSessions"), returning: [.array(row)], timeout: Self.timeout)
        var paths: [ObjectPath] = []
        for var fields in try response.nextStructures() {
            _ = try fields.next(String.self)
            let owner = try fields.next(UInt32.self)
            guard user == nil || owner == user else { continue }
            (_, _) = (try fields.next(String.self), try fields.next(String.self))
            paths.append(try fields.next(ObjectPath.self))
        }
        return paths
    }

    /// Returns a session; nil if it does not exist.
    func session(at path: ObjectPath) throws(BusError) -> SessionRecord? {
        do throws(BusError) {
            return try SessionRecord(
                try bus.properties(of: Self.sessionInterface, at: path, Self.name, timeout: Self.timeout))
        } catch .remote(let failure) where Self.absence.contains(failure.name) {
            return nil
        }
    }

    /// The errors of a session that does not exist. Others, such as a logind that restarts, say
    /// nothing about the session.
    private static let absence: Set = [
        "org.freedesktop.DBus.Error.UnknownObject", "org.freedesktop.login1.NoSuchSession",
    ]

    /// Whether the machine is about to be suspended.
    func isPreparingForSleep() throws(BusError) -> Bool {
        try bus.property(
            "PreparingForSleep", of: Self.managerInterface, at: Self.path, Self.name, timeout: Self.timeout)
    }

    /// Delays the suspension of the machine until the descriptor is closed, for at most the time
    /// that the administrator allows (`InhibitDelayMaxSec`, usually five seconds).
    func inhibitSleep() throws(BusError) -> BusDescriptor {
        let arguments = ["sleep", "Latchkey", "The keychain is locked before the machine sleeps", "delay"]
        var response = try bus.call(
            method("Inhibit"), arguments.map(BusValue.string), returning: [.descriptor], timeout: Self.timeout)
        return try response.next()
    }

    private func method(_ member: String) -> BusMethod {
        BusMethod(Self.name, Self.path, Self.managerInterface, member)
    }

    private static let timeout = Duration.seconds(10)

    // MARK: Signals

    /// Calls `handler` with the session of each signal of this name and without arguments.
    func observeSessions(
        _ member: String, handler: @escaping @Sendable (ObjectPath) -> Void
    ) throws(BusError) -> BusRegistration {
        let rule = SignalRule(
            from: Self.name, Self.sessionInterface, member, path: .below(Self.sessions), types: [])
        return try bus.subscribe(to: rule) { handler($0.path) }
    }

    /// Calls `handler` with each session when the desktop locks or unlocks its screen.
    func observeLockedHints(
        handler: @escaping @Sendable (ObjectPath, Bool) -> Void
    ) throws(BusError) -> BusRegistration {
        let rule = SignalRule(
            from: Self.name, BusMethodCall.propertiesInterface, "PropertiesChanged", path: .below(Self.sessions),
            firstArgument: Self.sessionInterface,
            types: [.string, .dictionary(key: .string, value: .variant), .array(.string)])
        return try bus.subscribe(to: rule) { signal in
            var fields = signal.content
            guard (try? fields.next(String.self)) != nil, let changed = try? fields.next([String: BusVariant].self),
                let isLocked = changed["LockedHint"]?.content(as: Bool.self)
            else { return }
            handler(signal.path, isLocked)
        }
    }

    /// Calls `handler` with the session that has begun or ended.
    ///
    /// - Parameter member: `SessionNew` or `SessionRemoved`.
    func observeManager(
        _ member: String, handler: @escaping @Sendable (ObjectPath) -> Void
    ) throws(BusError) -> BusRegistration {
        let rule = managerRule(member, [.string, .objectPath])
        return try bus.subscribe(to: rule) { signal in
            if case .objectPath(let path)? = signal.content.remaining.last { handler(path) }
        }
    }

    /// Calls `handler` with true before the machine is suspended, and with false afterwards.
    func observeSleep(handler: @escaping @Sendable (Bool) -> Void) throws(BusError) -> BusRegistration {
        try bus.subscribe(to: managerRule("PrepareForSleep", [.boolean])) { signal in
            if case .boolean(let isBefore)? = signal.content.remaining.last { handler(isBefore) }
        }
    }

    private func managerRule(_ member: String, _ types: [BusType]) -> SignalRule {
        SignalRule(from: Self.name, Self.managerInterface, member, path: .object(Self.path), types: types)
    }
}
