// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Cancels long work on this thread whose result is no longer needed.
///
/// The code that can cancel, such as a server whose client has disconnected, binds it around an
/// operation. The work checks it at each step.
public final class Cancellation: Sendable {
    @TaskLocal public static var current: Cancellation?

    private let isRequested = Atomic(false)

    public init() {}

    public func request() { isRequested.store(true, ordering: .relaxed) }

    public var isCancelled: Bool { isRequested.load(ordering: .relaxed) }

    /// Whether the work on this thread is cancelled; false if no cancellation is bound.
    public static var isCancelled: Bool { current?.isCancelled ?? false }
}
