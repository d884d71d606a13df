// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LatchkeyProtocol
internal import LinuxSystem
internal import Synchronization

/// The responses to the recent changes of each user, by token: a client that has lost a response
/// repeats the request, and no change is made twice.
///
/// No secrets are cached. A repeated add is answered with the secrets of the repeated request,
/// which are the same. The text of a recovery key and large responses cannot be repeated.
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

    private let users = Mutex<[UInt32: Changes]>([:])

    /// Makes the change and returns its response; if the change was already made, returns the
    /// cached response.
    func perform(_ token: Token, _ request: Request, _ body: () -> Response) -> Response {
        while true {
            let known = users.withLock { users -> Outcome? in
                if let outcome = users[token.user]?.outcomes[token.bytes] { return outcome }
                users[token.user, default: Changes()].begin(token.bytes)
                return nil
            }
            switch known {
            case nil:
                let response = body()
                let cachedResponse = Self.cachedResponse(response)
                users.withLock {
                    $0[token.user]?.outcomes[token.bytes] = .ended(cachedResponse, at: BootClock.system.now())
                }
                return response
            case .ended(let response, _)?: return Self.replayed(response, of: request)
            // The first attempt is still running.
            case .running?: usleep(5000)
            }
        }
    }

    /// Evicts expired changes, including those of users who make no further changes.
    func evictExpired() {
        let now = BootClock.system.now()
        users.withLock { users in
            for user in users.keys {
                users[user]?.evict(now)
                if users[user]?.outcomes.isEmpty == true { users[user] = nil }
            }
        }
    }

    /// The number of users with cached changes.
    var userCount: Int { users.withLock { $0.count } }

    private static func cachedResponse(_ response: Response) -> Response {
        switch response {
        case .record(var record):
            record.secrets = nil
            return isShort(record) ? .record(record) : lostAnswer
        case .generatedKey(let key):
            return isShort(key.privateHalf) && key.publicHalf.map(isShort) != false ? response : lostAnswer
        case .secret:
            return .failure(
                KeychainError(
                    .io, "the recovery key was created, but its text was lost with the connection",
                    hint: "create a new one, which replaces it: latchkey recovery-key create"))
        default: return response
        }
    }

    private static func isShort(_ record: ItemRecord) -> Bool {
        record.attributes.values.reduce(0) { $0 + $1.canonicalBytes.count } <= maxResponseSize
    }

    private static let lostAnswer = Response.failure(
        KeychainError(.io, "the item was stored, but the response was lost with the connection", hint: "search for it"))

    private static func replayed(_ response: Response, of request: Request) -> Response {
        guard case .record(var record) = response, case .add(let item) = request else { return response }
        record.secrets = item.secrets
        return .record(record)
    }

    /// The maximum length of the attributes of a cached item, in bytes.
    private static let maxResponseSize = 4096
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

    private func isEvictable(_ oldest: IdempotencyCache.Outcome?, _ now: UInt64) -> Bool {
        guard case .ended(_, let time)? = oldest else { return oldest == nil }
        return now - time >= Self.lifetime || order.count - first >= Self.maxCount
    }

    /// One minute, in nanoseconds.
    private static let lifetime: UInt64 = 60_000_000_000
    private static let maxCount = 4096
}
