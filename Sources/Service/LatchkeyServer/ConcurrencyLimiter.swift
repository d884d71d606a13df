// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// Limits how many operations of a kind each user runs at the same time.
final class ConcurrencyLimiter: Sendable {
    /// The right to run one operation. It is released when the last reference to it ends.
    final class Permit: Sendable {
        private let limiter: ConcurrencyLimiter
        private let user: UInt32

        fileprivate init(_ limiter: ConcurrencyLimiter, _ user: UInt32) { (self.limiter, self.user) = (limiter, user) }

        deinit {
            limiter.permitCounts.withLock { permitCounts in
                let left = (permitCounts[user] ?? 1) - 1
                permitCounts[user] = left == 0 ? nil : left
            }
        }
    }

    /// The number of permits of each user.
    let count: Int
    private let permitCounts = SystemMutex<[UInt32: Int]>([:])

    init(_ count: Int) {
        self.count = count
    }

    /// Returns a permit; nil if none becomes free before the timeout.
    ///
    /// - Parameter timeout: in seconds.
    func acquire(for user: UInt32, timeout: Int) -> Permit? {
        let deadline = BootClock.system.now() + UInt64(timeout) * 1_000_000_000
        while true {
            let isPermitted = permitCounts.withLock { permitCounts in
                guard (permitCounts[user] ?? 0) < count else { return false }
                permitCounts[user, default: 0] += 1
                return true
            }
            if isPermitted { return Permit(self, user) }
            guard BootClock.system.now() < deadline else { return nil }
            usleep(2000)
        }
    }

    /// The number of permits that a user holds; for tests.
    func permitCount(of user: UInt32) -> Int { permitCounts.withLock { $0[user] ?? 0 } }
}
