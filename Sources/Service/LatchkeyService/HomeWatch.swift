// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import Synchronization

/// Notices that a daemon takes a home which this process has open. The file system is asked a few times a second at most.
final class HomeWatch: Sendable {
    private let home: KeychainHome
    private let clock: BootClock
    private let lookedAt: Atomic<UInt64>

    init(_ home: KeychainHome, _ clock: BootClock) {
        self.home = home
        self.clock = clock
        lookedAt = Atomic(clock.now())
    }

    var isTaken: Bool {
        let now = clock.now()
        guard now &- lookedAt.load(ordering: .relaxed) > Self.patience else { return false }
        lookedAt.store(now, ordering: .relaxed)
        return HomeOwnership.isMarked(home)
    }

    /// A tenth of a second, in nanoseconds.
    private static let patience: UInt64 = 100_000_000
}
