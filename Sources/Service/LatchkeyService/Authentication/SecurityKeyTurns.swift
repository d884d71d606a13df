// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LinuxSystem

/// Lets one evaluation of each user use the security keys at a time: a device answers one request at a time, and a
/// second touch prompt would hide the program that the touch is for.
final class SecurityKeyTurns: Sendable {
    private let busy = SystemMutex<Set<UInt32>>([])

    /// Waits for the turn of the user, and calls `body`.
    ///
    /// - Parameter deadline: by `BootClock.system`, in nanoseconds.
    /// - Throws: an error with `systemCancel` if the turn does not come before the deadline or the
    ///   cancellation.
    func run<Result>(
        for user: UInt32, until deadline: UInt64, _ cancellation: Cancellation,
        _ body: () throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        while !busy.withLock({ $0.insert(user).inserted }) {
            guard BootClock.system.now() < deadline, !cancellation.isCancelled else {
                throw .authentication(.systemCancel, "another program waited for the security key all the time")
            }
            usleep(Self.interval)
        }
        defer { _ = busy.withLock { $0.remove(user) } }
        return try body()
    }

    /// How often the turn is checked, in microseconds.
    private static let interval: UInt32 = 50_000
}
