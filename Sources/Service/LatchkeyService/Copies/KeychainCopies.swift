// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainStore
public import KeychainModel
internal import LinuxSystem
public import SecretMemory

/// The search for copies of a keychain's secrets in other bytes, such as files of the user.
///
/// It answers guesses, so it needs the right of an export, and is limited in number, bytes and time.
public final class KeychainCopies: Sendable {
    private let keychain: OpenKeychain
    private let clock: BootClock
    /// The times of the searches of the last hour, in nanoseconds.
    private let begun = SystemMutex<[UInt64]>([])

    /// The maximum number of searches in an hour.
    public static let maxSearches = 20
    private static let hour: UInt64 = 3600 * 1_000_000_000

    init(keychain: OpenKeychain, clock: BootClock) { (self.keychain, self.clock) = (keychain, clock) }

    /// Opens the secrets that can be compared, in the present state of the lock.
    ///
    /// - Parameter passcode: that of the keychain, if one is set. It is verified, and opens nothing.
    /// - Throws: errSecNotAvailable after too many searches; errSecInteractionNotAllowed if every item is locked.
    public func search(passcode: SharedSecret?) throws(KeychainError) -> CopyComparison {
        try takeTurn()
        let passcode = try Passcode.of(passcode)
        let lockState = keychain.store.lockState
        let search = try keychain.run { () throws(StoreError) in try keychain.store.copies.search(passcode: passcode) }
        guard search.report.compared > 0 || search.report.locked == 0 else {
            throw KeychainError(
                .interactionNotAllowed, "the keychain is locked, and no item can be compared",
                hint: "unlock it: latchkey unlock")
        }
        return CopyComparison(search, keychain: keychain, lockState, clock: clock)
    }

    private func takeTurn() throws(KeychainError) {
        let isAllowed = begun.withLock { begun in
            let now = clock.now()
            begun.removeAll { now &- $0 >= Self.hour }
            guard begun.count < Self.maxSearches else { return false }
            begun.append(now)
            return true
        }
        guard isAllowed else {
            throw KeychainError(
                .notAvailable, "the keychain was compared with files \(Self.maxSearches) times in the last hour",
                hint: "try again later")
        }
    }
}

/// One search: the bytes are passed in order.
public final class CopyComparison: Sendable {
    private struct State {
        let search: CopySearch
        var length = 0
        var matches = 0
        var wasShort = false

        mutating func take(_ found: [CopyMatch]) throws(KeychainError) -> [CopyMatch] {
            matches += found.count
            guard matches <= CopyComparison.maxMatches else {
                throw CopyComparison.exceeded("\(CopyComparison.maxMatches) copies")
            }
            return found
        }
    }

    public let report: CopyReport
    private let state: SystemMutex<State>
    private let keychain: OpenKeychain
    private let clock: BootClock
    private let deadline: UInt64
    private let lockState: LockState

    /// The minimum number of bytes of each call but the last: a caller that asks guess by guess pays for this number.
    public static let minPieceLength = 64 << 10
    /// The maximum number of bytes of a search.
    public static let maxLength = 64 << 30
    public static let maxMatches = 10_000
    /// The cost of a comparison with a secret, in bytes.
    private static let comparisonCost = 64
    private static let maxTime: UInt64 = 2 * 3600 * 1_000_000_000

    init(_ search: CopySearch, keychain: OpenKeychain, _ lockState: LockState, clock: BootClock) {
        report = search.report
        state = SystemMutex(State(search: search))
        (self.keychain, self.clock, deadline) = (keychain, clock, clock.now() &+ Self.maxTime)
        self.lockState = lockState
    }

    /// Returns the copies that became known by the next bytes.
    ///
    /// - Throws: if a budget is used up, and if the keychain was locked meanwhile.
    public func matches(in bytes: SharedSecret) throws(KeychainError) -> [CopyMatch] {
        guard keychain.store.lockState == lockState else {
            throw KeychainError(.interactionNotAllowed, "the keychain was locked during the search")
        }
        guard clock.now() < deadline else { throw Self.exceeded("two hours") }
        return try state.withLock { (state) throws(KeychainError) in
            guard !state.wasShort else {
                throw KeychainError(
                    .param, "each part but the last must have at least \(Self.minPieceLength) bytes")
            }
            state.wasShort = bytes.count < Self.minPieceLength
            state.length += max(bytes.count, Self.minPieceLength)
            guard state.length + state.search.comparisons * Self.comparisonCost <= Self.maxLength else {
                throw Self.exceeded("\(Self.maxLength >> 30) GiB")
            }
            return try state.take(state.search.matches(in: bytes))
        }
    }

    /// Returns the copies at the end.
    public func finish() throws(KeychainError) -> [CopyMatch] {
        try state.withLock { (state) throws(KeychainError) in try state.take(state.search.finish()) }
    }

    private static func exceeded(_ limit: String) -> KeychainError {
        KeychainError(
            .notAvailable, "the search for copies has reached its limit of \(limit)", hint: "search fewer files")
    }
}
