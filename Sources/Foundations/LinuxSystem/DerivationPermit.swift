// SPDX-License-Identifier: Apache-2.0

/// The permit that a server gives an operation for its key derivations. Each derivation uses up to 256 MiB.
///
/// The server binds it around the operation. The operation releases it after its last derivation
/// and continues without it, so that long work on rows and files does not delay other derivations.
public final class DerivationPermit: Sendable {
    @TaskLocal public static var current: DerivationPermit?

    private let onRelease: @Sendable () -> Void

    /// - Parameter onRelease: called on the thread of the operation, at each release.
    public init(onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }

    /// Releases the permit of the operation on this thread; does nothing if none is bound.
    public static func release() { current?.onRelease() }
}
