// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyOperations
internal import LinuxSystem

/// Permits that are held until a request is answered.
final class HeldPermits: Sendable {
    private struct State {
        var permits: [OperationPermit] = []
        /// The permits of searches. A request needs one of a kind, also for several keychains.
        var searches: [LimitedResource: OperationPermit] = [:]
    }

    private let state = SystemMutex(State())

    func hold(_ permit: OperationPermit) { state.withLock { $0.permits.append(permit) } }

    func holdSearch(_ permit: OperationPermit, _ resource: LimitedResource) {
        state.withLock { $0.searches[resource] = permit }
    }

    /// The permit that the request holds already.
    func search(_ resource: LimitedResource) -> OperationPermit? { state.withLock { $0.searches[resource] } }

    func release() { state.withLock { $0 = State() } }
}
