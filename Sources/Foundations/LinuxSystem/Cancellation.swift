// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Tells long work on this thread that its result is no longer wanted.
///
/// It is bound around an operation by the side that knows, such as a server whose client has gone, and asked at every step of the work.
public final class Cancellation: Sendable {
    @TaskLocal public static var current: Cancellation?

    private let isRequested = Atomic(false)

    public init() {}

    public func request() { isRequested.store(true, ordering: .relaxed) }

    public var isCancelled: Bool { isRequested.load(ordering: .relaxed) }

    /// Whether the work on this thread is cancelled; false where there is nothing to cancel it.
    public static var isCancelled: Bool { current?.isCancelled ?? false }
}
