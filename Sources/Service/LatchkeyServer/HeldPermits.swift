// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyOperations
internal import LinuxSystem

/// Permits that are held until a request is answered.
final class HeldPermits: Sendable {
    private let permits = SystemMutex<[OperationPermit]>([])

    func hold(_ permit: OperationPermit) { permits.withLock { $0.append(permit) } }

    func release() { permits.withLock { $0 = [] } }
}
