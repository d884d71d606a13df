// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel
internal import KeychainStore
internal import LinuxSystem

/// When each process last had the person recognized by biometry, for those that allow a reuse
/// (`touchIDAuthenticationAllowableReuseDuration`). The lock wipes the keys.
final class RecentRecognitions: Sendable {
    private struct Recognition {
        /// By `BootClock`, in nanoseconds.
        let time: UInt64
        let keys: ConstraintKeys
    }

    private let recent = SystemMutex<[AuthenticationContexts.Owner: Recognition]>([:])
    private let clock: BootClock

    init(_ clock: BootClock) { self.clock = clock }

    /// Keeps a copy of the key of biometry that a recognition has released.
    func record(_ keys: ConstraintKeys, of owner: AuthenticationContexts.Owner, in store: KeychainStore) {
        let own = store.constraintKeys()
        guard (try? store.copyBiometry(from: keys, to: own)) != nil else { return }
        let now = clock.now()
        recent.withLock { recent in
            recent = recent.filter { now &- $0.value.time <= Self.maxAge }
            recent[owner] = Recognition(time: now, keys: own)
        }
    }

    /// Adds the key of a recognition that is not older than `seconds`.
    ///
    /// - Returns: false if there is none.
    func reuse(
        within seconds: Double, for owner: AuthenticationContexts.Owner, in store: KeychainStore, _ keys: ConstraintKeys
    ) -> Bool {
        guard seconds > 0, let known = recent.withLock({ $0[owner] }) else { return false }
        // A clock that went back makes it very old.
        let age = Double(clock.now() &- known.time) / 1e9
        guard age <= min(seconds, AuthenticationPrompt.maxReuse) else { return false }
        return (try? store.copyBiometry(from: known.keys, to: keys)) != nil
    }

    /// Forgets the recognition of a process that has ended.
    func remove(_ owner: CallerIdentity.ProcessIdentity) { recent.withLock { $0[owner] = nil } }

    func removeAll() { recent.withLock { $0 = [:] } }

    private static let maxAge = UInt64(AuthenticationPrompt.maxReuse * 1e9)
}
