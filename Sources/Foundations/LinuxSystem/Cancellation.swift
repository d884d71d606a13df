// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A cancellation of long work on this thread, if its result is no longer needed.
///
/// The code that can cancel, such as a server for a client that can disconnect, binds it around an operation. The work
/// checks it at each step.
public final class Cancellation: Sendable {
    @TaskLocal public static var current: Cancellation?

    private let isRequested = Atomic(false)
    private let outer: Cancellation?
    private let condition: (@Sendable () -> Bool)?

    /// - Parameters:
    ///   - outer: cancels this work too; nil for none.
    ///   - condition: the work is cancelled while it is true; it is called at each step.
    public init(within outer: Cancellation? = nil, or condition: (@Sendable () -> Bool)? = nil) {
        (self.outer, self.condition) = (outer, condition)
    }

    public func request() { isRequested.store(true, ordering: .relaxed) }

    public var isCancelled: Bool {
        isRequested.load(ordering: .relaxed) || outer?.isCancelled == true || condition?() == true
    }

    /// Whether the work on this thread is cancelled; false if no cancellation is bound.
    public static var isCancelled: Bool { current?.isCancelled ?? false }
}
