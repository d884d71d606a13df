// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem
internal import Synchronization

/// Lets only so many of each user do something at a time.
final class UserTurns: Sendable {
    /// Lets the next one in when it goes.
    final class Turn: Sendable {
        private let turns: UserTurns
        private let user: UInt32

        fileprivate init(_ turns: UserTurns, _ user: UInt32) { (self.turns, self.user) = (turns, user) }

        deinit {
            turns.taken.withLock { taken in
                let left = (taken[user] ?? 1) - 1
                taken[user] = left == 0 ? nil : left
            }
        }
    }

    private let count: Int
    private let taken = Mutex<[UInt32: Int]>([:])

    init(_ count: Int) {
        self.count = count
    }

    /// A turn; nil where none is free in time.
    ///
    /// - Parameter patience: in seconds.
    func turn(of user: UInt32, patience: Int) -> Turn? {
        let deadline = BootClock.system.now() + UInt64(patience) * 1_000_000_000
        while true {
            let isMine = taken.withLock { taken in
                guard (taken[user] ?? 0) < count else { return false }
                taken[user, default: 0] += 1
                return true
            }
            if isMine { return Turn(self, user) }
            guard BootClock.system.now() < deadline else { return nil }
            usleep(2000)
        }
    }

    /// How many turns of a user are taken; for tests.
    func takenCount(of user: UInt32) -> Int { taken.withLock { $0[user] ?? 0 } }
}
