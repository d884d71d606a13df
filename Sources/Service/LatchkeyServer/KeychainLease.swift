// SPDX-License-Identifier: Apache-2.0

/// Keeps a keychain open: the keychain is not closed as idle before all its leases have ended.
public final class KeychainLease: Sendable {
    private let end: @Sendable () -> Void

    /// - Parameter end: called when the last reference is released.
    init(end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}
