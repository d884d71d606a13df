// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LatchkeyOperations
internal import LinuxSystem

/// The responses to the recent changes of each user, by token: a client that has lost a response
/// repeats the request, and no change is made twice.
///
/// No secrets are cached. A repeated add is answered with the secrets of the repeated request, because they are the
/// same. The text of a recovery key and large responses cannot be repeated.
final class IdempotencyCache: Sendable {
    struct Token: Hashable {
        var user: UInt32
        var bytes: [UInt8]
    }

    fileprivate enum Outcome {
        case running
        case ended(Response, at: UInt64)
    }

    /// The changes of one user, the oldest first. The changes of one user never evict those of
    /// another.
    fileprivate struct Changes {
        var outcomes: [[UInt8]: Outcome] = [:]
        var order: [[UInt8]] = []
        /// The index of the oldest token in `order`.
        var first = 0
    }

    private let users = SystemMutex<[UInt32: Changes]>([:])

    /// Makes the change and returns its response; if the change was already made, returns the
    /// cached response.
    func perform<Operation: KeychainOperation>(
        _ token: Token, _ operation: Operation, _ body: () -> Result<Operation.Answer, KeychainError>
    ) -> Response {
        while true {
            let known = users.withLock { users -> Outcome? in
                if let outcome = users[token.user]?.outcomes[token.bytes] { return outcome }
                users[token.user, default: Changes()].begin(token.bytes)
                return nil
            }
            switch known {
            case nil:
                let outcome = body()
                let kept = Response(
                    outcome.flatMap { answer in Result { () throws(KeychainError) in try operation.kept(answer) } })
                users.withLock {
                    $0[token.user]?.outcomes[token.bytes] = .ended(kept, at: BootClock.system.now())
                }
                return Response(outcome)
            case .ended(let kept, _)?: return Self.repeated(kept, of: operation)
            // The first attempt is still running.
            case .running?: usleep(5000)
            }
        }
    }

    /// Evicts expired changes, including those of users who make no further changes.
    ///
    /// - Returns: when the next change will have expired (`BootClock`); nil if there is none that has
    ///   ended.
    @discardableResult
    func evictExpired() -> UInt64? {
        let now = BootClock.system.now()
        return users.withLock { users in
            for user in users.keys {
                users[user]?.evict(now)
                if users[user]?.outcomes.isEmpty == true { users[user] = nil }
            }
            return users.values.compactMap(\.nextExpiry).min()
        }
    }

    private static func repeated<Operation: KeychainOperation>(_ kept: Response, of operation: Operation) -> Response {
        guard case .content(let content) = kept, let answer = content as? Operation.Answer else { return kept }
        return .content(operation.repeated(answer))
    }
}

extension IdempotencyCache.Changes {
    /// Records the start of a change, and evicts changes that are older than a minute or beyond
    /// `maxCount`.
    fileprivate mutating func begin(_ token: [UInt8]) {
        evict(BootClock.system.now())
        outcomes[token] = .running
        order.append(token)
    }

    fileprivate mutating func evict(_ now: UInt64) {
        for token in order.dropFirst(first) {
            if case .running? = outcomes[token] {
                // Moved to the end of the queue: it is evicted after it has ended.
                order.append(token)
            } else if isEvictable(outcomes[token], now) {
                outcomes[token] = nil
            } else {
                break
            }
            first += 1
        }
        if first > Self.maxCount || first == order.count {
            order.removeFirst(first)
            first = 0
        }
    }

    /// When the oldest change expires; nil while it is being made.
    fileprivate var nextExpiry: UInt64? {
        guard first < order.count, case .ended(_, let time)? = outcomes[order[first]] else { return nil }
        return time + Self.lifetime
    }

    private func isEvictable(_ oldest: IdempotencyCache.Outcome?, _ now: UInt64) -> Bool {
        guard case .ended(_, let time)? = oldest else { return oldest == nil }
        return now &- time >= Self.lifetime || order.count - first >= Self.maxCount
    }

    /// One minute, in nanoseconds.
    private static let lifetime: UInt64 = 60_000_000_000
    private static let maxCount = 4096
}
