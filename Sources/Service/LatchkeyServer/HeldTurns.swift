// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Turns that are kept until a request is answered.
final class HeldTurns: Sendable {
    private let turns = Mutex<[UserTurns.Turn]>([])

    func keep(_ turn: UserTurns.Turn) { turns.withLock { $0.append(turn) } }

    func release() { turns.withLock { $0 = [] } }
}
