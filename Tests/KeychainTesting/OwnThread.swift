// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Runs work that blocks, such as the start of a process, on a thread of its own. Swift's own threads
/// are as many as there are cores, and all tests share them.
public func onOwnThread<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread { continuation.resume(with: Result { try work() }) }.start()
    }
}
