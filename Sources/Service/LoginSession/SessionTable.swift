// SPDX-License-Identifier: Apache-2.0

internal import SystemBus

/// A login session, as logind describes it.
struct SessionRecord: Equatable, Sendable {
    let user: UInt32
    /// Whether the user works in the session: not a greeter, a lock screen or a background session.
    let isOfUser: Bool
    /// Whether the screen is locked, as the desktop reports it (`LockedHint`).
    let isLocked: Bool

    init(user: UInt32, isOfUser: Bool, isLocked: Bool) {
        self.user = user
        self.isOfUser = isOfUser
        self.isLocked = isLocked
    }

    /// - Parameter properties: those of the interface `org.freedesktop.login1.Session`.
    /// - Throws: if the user or the class is missing.
    init(_ properties: [String: BusVariant]) throws(BusError) {
        guard let value = properties["User"]?.content, case .structure(let fields) = value,
            let kind = properties["Class"]?.content(as: String.self)
        else { throw .unexpected(expected: "the user and the class of a session", found: "other properties") }
        var user = BusFields(fields)
        self.user = try user.next(UInt32.self)
        // "user", and since systemd 256 also "user-early", "user-incomplete" and "user-light".
        isOfUser = kind == "user" || kind.hasPrefix("user-")
        isLocked = properties["LockedHint"]?.content(as: Bool.self) ?? false
    }
}

/// The sessions that exist, by their objects.
struct SessionTable: Sendable {
    private var records: [ObjectPath: SessionRecord] = [:]

    /// Whether the user works in a session.
    func hasSession(_ user: UInt32) -> Bool { records.values.contains { $0.user == user && $0.isOfUser } }

    /// The user of a session; nil if the session is not known.
    func user(of path: ObjectPath) -> UInt32? { records[path]?.user }

    mutating func add(_ record: SessionRecord, at path: ObjectPath) { records[path] = record }

    /// Removes a session that has ended.
    ///
    /// - Returns: the user, if this was the last session of the user; nil otherwise.
    mutating func remove(_ path: ObjectPath) -> UInt32? {
        guard let record = records.removeValue(forKey: path), record.isOfUser, !hasSession(record.user) else {
            return nil
        }
        return record.user
    }

    /// Replaces all sessions.
    ///
    /// - Returns: the users that have lost their last session since the table was complete.
    mutating func replace(with others: [ObjectPath: SessionRecord]) -> Set<UInt32> {
        let before = Set(records.values.filter(\.isOfUser).map(\.user))
        records = others
        return before.filter { !hasSession($0) }
    }
}
