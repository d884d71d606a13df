// SPDX-License-Identifier: Apache-2.0

/// The answers that the bus keeps because their receivers have not read them. Used on the thread of the bus
/// only.
///
/// The bus charges them to this connection: at its limit (`max_incoming_bytes` of dbus-daemon), it reads nothing more
/// of this connection, and all other peers wait for the one that does not read. So the bus is asked about each
/// connection that was sent more than a little. A bus that does not report it (dbus-broker, with a quota for each
/// receiver) is not asked again, and nothing is refused.
struct UnreadAnswers {
    private struct Entry {
        /// The maximum of the unread bytes: those that the bus has reported, and those sent since.
        var bytes = 0
        /// The bytes sent since the bus was asked; nil if it is not being asked.
        var sinceQuestion: Int?
        /// The calls that wait for the report, in their order.
        var waiting: [ReceivedCall] = []
    }

    private var entries: [BusName: Entry] = [:]
    private var total = 0
    private var isReported = true

    /// The report of the bus about a connection.
    enum Report {
        /// The bytes that it keeps for the connection.
        case bytes(Int)
        case ended
        case unsupported
    }

    /// Whether an answer of this size may be sent to a connection.
    func hasRoom(for receiver: BusName, bytes: Int, _ limits: BusLimits) -> Bool {
        let own = entries[receiver]?.bytes ?? 0
        guard isReported, own > Self.freeBytes - bytes else { return true }
        return own < limits.maxUnreadBytesPerConnection && bytes <= limits.maxUnreadBytes - total
    }

    /// Whether a connection does not even get errors, because it could be one of very many.
    func isFull(for receiver: BusName, _ limits: BusLimits) -> Bool {
        let own = entries[receiver]?.bytes ?? 0
        return isReported && own - Self.bytesForErrors >= limits.maxUnreadBytesPerConnection
    }

    /// Adds an answer that was sent.
    ///
    /// - Returns: whether the bus must be asked about the connection.
    mutating func add(_ bytes: Int, to receiver: BusName, _ limits: BusLimits) -> Bool {
        guard isReported, limits.maxUnreadBytesPerConnection < .max else { return false }
        if entries.count >= Self.maxCount { dropSmall() }
        entries[receiver, default: Entry()].bytes += bytes
        total += bytes
        if let since = entries[receiver]?.sinceQuestion {
            entries[receiver]?.sinceQuestion = since + bytes
            return false
        }
        guard let own = entries[receiver]?.bytes, own > Self.freeBytes else { return false }
        entries[receiver]?.sinceQuestion = 0
        return true
    }

    /// Whether a call must wait for a report about its sender: it has not read much, as far as is known, or
    /// earlier calls wait.
    func mustWait(_ sender: BusName, _ limits: BusLimits) -> Bool {
        entries[sender]?.waiting.isEmpty == false || !hasRoom(for: sender, bytes: 0, limits)
    }

    /// Keeps a call until the bus has reported.
    ///
    /// - Returns: whether the bus must be asked.
    mutating func wait(_ call: ReceivedCall) -> Bool {
        let sender = call.call.sender
        entries[sender, default: Entry()].waiting.append(call)
        guard entries[sender]?.sinceQuestion == nil else { return false }
        entries[sender]?.sinceQuestion = 0
        return true
    }

    /// Returns the calls that have waited, in their order.
    mutating func update(_ receiver: BusName, _ report: Report) -> [ReceivedCall] {
        guard var entry = entries.removeValue(forKey: receiver) else { return [] }
        total -= entry.bytes
        let waiting = entry.waiting
        switch report {
        case .ended: break
        case .unsupported:
            isReported = false
            total = 0
        case .bytes(let count):
            (entry.bytes, entry.sinceQuestion, entry.waiting) = (count + (entry.sinceQuestion ?? 0), nil, [])
            guard entry.bytes > 0 else { break }
            entries[receiver] = entry
            total += entry.bytes
        }
        return waiting
    }

    /// Forgets connections with few unread bytes, unless the bus is being asked about them. Many have ended.
    private mutating func dropSmall() {
        for (name, entry) in entries where entry.sinceQuestion == nil && entry.bytes <= Self.freeBytes {
            entries[name] = nil
            total -= entry.bytes
        }
    }

    /// The bytes that a connection always gets, without a question to the bus.
    private static let freeBytes = 64 << 10
    /// The bytes of errors that a connection gets beyond its limit.
    private static let bytesForErrors = 1 << 20
    private static let maxCount = 4096
}

// MARK: Reports of the bus

extension BusLoop {
    /// Keeps account of an answer that was sent.
    func noteAnswer(_ bytes: Int, to receiver: BusName) {
        if unread.add(bytes, to: receiver, limits) { askAboutUnread(of: receiver) }
    }

    /// Asks the bus how much it keeps for a connection, and then handles the calls that wait for it.
    func askAboutUnread(of receiver: BusName) {
        let method = BusMethod(
            .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus.Debug.Stats", "GetConnectionStats")
        start(
            nextIdentifier(), method, [.string(receiver.text)],
            types: [.dictionary(key: .string, value: .variant)], holdsSecrets: false
        ) { [unowned self] result in
            forEach(unread.update(receiver, Self.unreadReport(result))) { received in
                if unread.hasRoom(for: receiver, bytes: 0, limits) {
                    enqueue(received)
                } else {
                    fail(received.identifier, .unreadAnswers)
                }
            }
        }
    }

    private static func unreadReport(_ result: Result<[BusValue], BusError>) -> UnreadAnswers.Report {
        switch result {
        case .success(let values):
            guard let statistics = values.first.flatMap({ [String: BusVariant].from($0) }),
                let bytes = statistics["OutgoingBytes"]?.content(as: UInt32.self)
            else { return .unsupported }
            return .bytes(Int(bytes))
        case .failure(.remote(let failure)) where failure.name == BusFailure.nameHasNoOwner: return .ended
        case .failure: return .unsupported
        }
    }
}

extension BusFailure {
    static let unreadAnswers = BusFailure.limitsExceeded("too many answers were not read")
}
