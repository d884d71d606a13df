// SPDX-License-Identifier: Apache-2.0

/// Keeps a keychain open: it is not closed as idle before every lease of it has gone.
public final class KeychainLease: Sendable {
    private let end: @Sendable () -> Void

    /// - Parameter end: called when the last reference goes.
    init(end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}
