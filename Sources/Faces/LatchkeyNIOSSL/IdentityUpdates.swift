// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyClient
internal import LatchkeyService
internal import LinuxSystem

/// Follows an identity of the keychain, and tells a server when it was renewed.
///
/// ```swift
/// let updates = try IdentityUpdates(of: KeychainIdentity(label: "api.example.com"))
/// let tls = try TLSServer(updates.first)
/// updates.follow { change in
///     switch change {
///     case .renewed(let identity): do { try tls.use(identity) } catch { log("\(error)") }
///     case .unavailable(let refusal): log("\(refusal)")
///     }
/// }
/// ```
///
/// It follows as long as the object is referenced, or until ``end()``. The keychain's changes are
/// noticed at once where it reports them, and otherwise when it is read again after the interval.
public final class IdentityUpdates: Sendable {
    /// A change of the identity.
    public enum Change: Sendable {
        /// The identity has another certificate.
        case renewed(TLSIdentity)
        /// There is no valid identity any more, or it cannot be read. The last one stays in use;
        /// told once, until it is available again.
        case unavailable(TLSRefusal)
    }

    /// The identity at the beginning.
    public let first: TLSIdentity
    private let follower: IdentityFollower

    /// Reads the identity. Must not be called on an event loop.
    ///
    /// - Parameters:
    ///   - identity: the identity to follow.
    ///   - interval: how often the keychain is read without a notification; at least 10 ms.
    /// - Throws: if there is no valid identity with the name, or if its key cannot sign for TLS.
    public init(of identity: KeychainIdentity, interval: Duration = .seconds(60)) throws(TLSRefusal) {
        let reading = try identity.read()
        first = reading.identity
        follower = IdentityFollower(identity, reading.certificates, max(interval, .milliseconds(10)))
    }

    /// Calls `body` after each change, on a thread that may block, one call after the other. A
    /// renewal since the beginning is not missed. Only the first call of this function has an
    /// effect.
    public func follow(_ body: @escaping @Sendable (Change) -> Void) { follower.begin(body) }

    /// Ends the calls. One that has begun may still run.
    public func end() { follower.end() }

    deinit { follower.end() }
}

/// Reads the identity again when the keychain changes.
private final class IdentityFollower: Sendable {
    private struct State {
        /// The certificates in use, as DER.
        var known: [[UInt8]]
        var isUnavailable = false
        var tasks: [Task<Void, Never>] = []
        var hasBegun = false
        var hasEnded = false
        /// The number of the observer of the keychain; nil if there is none.
        var observer: Int?
        var isAdding = false
    }

    private let identity: KeychainIdentity
    private let interval: Duration
    private let state: SystemMutex<State>
    private let (events, source) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    init(_ identity: KeychainIdentity, _ known: [[UInt8]], _ interval: Duration) {
        (self.identity, self.interval) = (identity, interval)
        state = SystemMutex(State(known: known))
    }

    func begin(_ body: @escaping @Sendable (IdentityUpdates.Change) -> Void) {
        let isFirst = state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun && !state.hasEnded
        }
        guard isFirst else { return }
        // The tasks have the caller and the log of this one.
        let check = KeychainClient.bound { [self] in compare(body) }
        let add = KeychainClient.bound { [self] in addObserver() }
        let remove = KeychainClient.bound { [self] in removeObserver() }
        let reading = Task { [events] in
            for await _ in events {
                await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                    BlockingCallPool.shared.run {
                        check()
                        continuation.resume()
                    }
                }
                // A daemon may not answer; readings do not wait for it.
                BlockingCallPool.shared.run(add)
            }
            BlockingCallPool.shared.run(remove)
        }
        let (source, interval) = (source, interval)
        let polling = Task {
            source.yield()
            while (try? await Task.sleep(for: interval)) != nil { source.yield() }
        }
        state.withLock { $0.tasks = [reading, polling] }
        if state.withLock({ $0.hasEnded }) { end() }
    }

    func end() {
        let tasks = state.withLock { state in
            state.hasEnded = true
            return state.tasks
        }
        source.finish()
        for task in tasks { task.cancel() }
    }

    /// Compares the identity with the known one. Runs on a thread that may block.
    private func compare(_ body: @Sendable (IdentityUpdates.Change) -> Void) {
        do throws(TLSRefusal) {
            let reading = try identity.read()
            let isNew = state.withLock { state in
                state.isUnavailable = false
                defer { state.known = reading.certificates }
                return state.known != reading.certificates && !state.hasEnded
            }
            if isNew { body(.renewed(reading.identity)) }
        } catch {
            let isFirst = state.withLock { state in
                defer { state.isUnavailable = true }
                return !state.isUnavailable && !state.hasEnded
            }
            if isFirst { body(.unavailable(error)) }
        }
    }

    // MARK: Notifications

    /// Without notifications, only the interval remains.
    private func addObserver() {
        let isNeeded = state.withLock { state in
            guard state.observer == nil, !state.isAdding, !state.hasEnded else { return false }
            state.isAdding = true
            return true
        }
        guard isNeeded else { return }
        let number = try? KeychainClient.session().addChangeObserver { [weak self, source] event in
            // The keychain is observed anew at the next reading.
            if event == .ended { self?.state.withLock { $0.observer = nil } }
            source.yield()
        }
        let hasEnded = state.withLock { state in
            (state.observer, state.isAdding) = (number, false)
            return state.hasEnded
        }
        // A change before the observer was added.
        if number != nil { source.yield() }
        if hasEnded { removeObserver() }
    }

    private func removeObserver() {
        let number = state.withLock { state in
            defer { state.observer = nil }
            return state.observer
        }
        if let number, let session = try? KeychainClient.session() { session.removeChangeObserver(number) }
    }
}
