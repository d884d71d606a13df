// SPDX-License-Identifier: Apache-2.0

/// The place that a server gives to an operation for its key derivations, each of which takes up to 256 MiB.
///
/// The server binds it around the operation. The operation releases it after its last derivation and continues without it, so that long work
/// on rows and files does not keep other derivations waiting.
public final class DerivationPermit: Sendable {
    @TaskLocal public static var current: DerivationPermit?

    private let onRelease: @Sendable () -> Void

    /// - Parameter onRelease: called on the thread of the operation, at every release.
    public init(onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }

    /// Releases the place of the operation on this thread; does nothing where none is bound.
    public static func release() { current?.onRelease() }
}
