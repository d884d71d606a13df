// SPDX-License-Identifier: Apache-2.0

/// The storage of one user on the disk, at all places together. Bytes are charged before they are written. Backups in
/// transit have a limit of their own of the same size.
public final class StorageAccount: Sendable {
    private struct State {
        /// The bytes at each place: the path of a file or a directory.
        var bytes: [String: Int] = [:]
        var items: [String: Int] = [:]
        /// The bytes that are being written, or are on their way and have no place yet.
        var charged = 0
        var charges = 0
        /// The backups in transit.
        var inTransit = 0
        /// The bytes that the running change of a database may add.
        var granted = 0

        func available(of maxBytes: Int) -> Int {
            max(0, maxBytes - charged - granted - bytes.values.reduce(0) { $0 + max(0, $1) })
        }
    }

    /// The maximum of all places together, in bytes.
    public let maxBytes: Int
    /// The maximum of all places together.
    public let maxItems: Int
    private let state = SystemMutex(State())
    private let changing = BinarySemaphore()

    public init(maxBytes: Int = .max, maxItems: Int = .max) { (self.maxBytes, self.maxItems) = (maxBytes, maxItems) }

    /// The bytes that are left.
    public var available: Int { state.withLock { $0.available(of: maxBytes) } }

    // MARK: Places

    /// Records the bytes at a place.
    public func set(bytes: Int, at place: String) { state.withLock { $0.bytes[place] = bytes } }

    /// Records the bytes at the place of a database at this moment.
    public func update(_ place: String, measure: () -> Int) { state.withLock { $0.bytes[place] = measure() } }

    public func set(items: Int, at place: String) { state.withLock { $0.items[place] = items } }

    /// The items at the other places.
    public func items(without place: String) -> Int {
        state.withLock { $0.items.reduce(0) { $0 + ($1.key == place ? 0 : $1.value) } }
    }

    /// Forgets the places below a directory that was removed.
    public func forget(below directory: String) {
        state.withLock { state in
            state.bytes = state.bytes.filter { !$0.key.hasPrefix("\(directory)/") }
            state.items = state.items.filter { !$0.key.hasPrefix("\(directory)/") }
        }
    }

    // MARK: Changes of databases

    /// Runs `body` to change a database, while no other database of the user is changed.
    ///
    /// - Parameters:
    ///   - measure: returns the present size of the database.
    ///   - body: gets the bytes that the database may grow by: half of the available bytes, if other bytes are on their
    ///     way.
    public func whileChanging<Value, Failure: Error>(
        _ place: String, measure: () -> Int, _ body: (Int) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        changing.acquire()
        defer { changing.release() }
        let before = measure()
        let growth = state.withLock { state in
            state.bytes[place] = before
            let available = state.available(of: maxBytes)
            state.granted = state.charges > 0 ? available / 2 : available
            return state.granted
        }
        defer {
            let after = measure()
            state.withLock { state in
                state.bytes[place] = after
                state.granted = 0
            }
        }
        return try body(growth)
    }

    /// Releases some of the bytes that the running change of a database was granted, for use within this change.
    public func releaseGrant(_ count: Int) { state.withLock { $0.granted = max(0, $0.granted - max(0, count)) } }

    // MARK: Bytes on their way

    /// Bytes that are charged to an account until the last reference to this object is released.
    public final class Charge: Sendable {
        private let account: StorageAccount
        private let isInTransit: Bool
        private let amount = SystemMutex(0)

        fileprivate init(_ account: StorageAccount, inTransit: Bool) {
            (self.account, isInTransit) = (account, inTransit)
            if !inTransit { account.state.withLock { $0.charges += 1 } }
        }

        /// Charges more bytes, before they are written.
        ///
        /// - Parameter waits: whether to wait for a change of a database, because it may need less than it was granted.
        ///   False within such a change.
        /// - Returns: false if the account has not so many left.
        public func add(_ count: Int, waits: Bool = true) -> Bool {
            if account.charge(count, inTransit: isInTransit) {
                amount.withLock { $0 += count }
                return true
            }
            guard waits, !isInTransit, account.state.withLock({ $0.granted > 0 }) else { return false }
            account.changing.acquire()
            account.changing.release()
            return add(count, waits: false)
        }

        deinit {
            let amount = amount.withLock { $0 }
            account.state.withLock { state in
                if isInTransit {
                    state.inTransit -= amount
                } else {
                    state.charged -= amount
                    state.charges -= 1
                }
            }
        }
    }

    /// Begins to charge bytes that have no place yet.
    ///
    /// - Parameter inTransit: whether they are a backup in transit. All of these together may have ``maxBytes`` beside
    ///   the bytes with a place: a keychain at its limit can be backed up, and its backup restored.
    public func charge(inTransit: Bool = false) -> Charge { Charge(self, inTransit: inTransit) }

    private func charge(_ count: Int, inTransit: Bool) -> Bool {
        state.withLock { state in
            guard !inTransit else {
                guard count <= maxBytes - state.inTransit else { return false }
                state.inTransit += count
                return true
            }
            guard count <= state.available(of: maxBytes) else { return false }
            state.charged += count
            return true
        }
    }
}
