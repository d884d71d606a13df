// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import Synchronization

/// Detects that a daemon takes over a home that this process has open. It checks the file system at
/// most ten times a second.
final class HomeOwnershipMonitor: Sendable {
    private let home: KeychainHome
    private let clock: BootClock
    private let checkedAt: Atomic<UInt64>

    init(_ home: KeychainHome, _ clock: BootClock) {
        self.home = home
        self.clock = clock
        checkedAt = Atomic(clock.now())
    }

    var isOwnedByDaemon: Bool {
        let now = clock.now()
        guard now &- checkedAt.load(ordering: .relaxed) > Self.checkInterval else { return false }
        checkedAt.store(now, ordering: .relaxed)
        return HomeOwnership.hasMarker(home)
    }

    /// A tenth of a second, in nanoseconds.
    private static let checkInterval: UInt64 = 100_000_000
}
