// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

extension Keychain {
    /// Whether files of the class ``FileProtectionClass/complete`` can be opened now, as
    /// `UIApplication.isProtectedDataAvailable` says.
    public var isProtectedDataAvailable: Bool {
        get throws(KeychainError) { try lockStatus.open.contains(FileProtectionClass.complete.itemProtection) }
    }

    /// Whether protected files are available: now, and after each change.
    ///
    /// While the grace period after a lock runs, files can still be opened; the stream says false from
    /// its beginning on.
    public func protectedDataAvailability() throws(KeychainError) -> AsyncStream<Bool> {
        let states = try lockStates()
        return AsyncStream { continuation in
            let task = Task {
                var last: Bool?
                for await state in states where last != (state == .unlocked) {
                    last = state == .unlocked
                    continuation.yield(state == .unlocked)
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
