// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import LinuxSystem
internal import Logging
public import SecretMemory

/// Unlocks the keychain with a passcode from the process's own source: a file, a credential or its
/// terminal.
///
/// The source is called only when a locked item is needed, by one thread at a time. A passcode that
/// was wrong is not checked again: a check is slow by design, and the result would be the same.
public final class AutomaticUnlock: Sendable {
    public typealias Source = @Sendable () throws(KeychainError) -> SharedSecret?

    private let source: Source
    private let semaphore = BinarySemaphore()
    private let refused = SystemMutex<SharedSecret?>(nil)
    /// The failure that was logged last.
    private let logged = SystemMutex<String?>(nil)

    package init(_ source: @escaping Source) {
        self.source = source
    }

    /// Unlocks with the source's passcode, if it has one.
    ///
    /// - Parameters:
    ///   - isNeeded: called when this thread has the semaphore, because another thread may have
    ///     unlocked the keychain meanwhile.
    ///   - unlock: returns false for a wrong passcode.
    /// - Returns: whether the keychain is unlocked now.
    package func perform(
        isNeeded: () -> Bool, _ unlock: (SharedSecret) throws(KeychainError) -> Bool
    ) throws(KeychainError) -> Bool {
        semaphore.acquire()
        defer { semaphore.release() }
        guard isNeeded() else { return true }
        guard let passcode = try source(), refused.withLock({ $0 }) != passcode else { return false }
        guard try unlock(passcode) else {
            refused.withLock { $0 = passcode }
            throw KeychainError(.authFailed, "the passcode given to this process is wrong")
        }
        return true
    }

    /// Runs `body` for a report of the lock; `body` calls ``perform(isNeeded:_:)``. A failure is logged, once, and
    /// leaves the keychain locked: the reader of the report can still unlock it in another way.
    package func reportingFailures(_ body: () throws(KeychainError) -> Bool) -> Bool {
        do throws(KeychainError) {
            return try body()
        } catch {
            let isKnown = logged.withLock { logged in
                defer { logged = error.problem }
                return logged == error.problem
            }
            if !isKnown {
                let reason: Logger.MetadataValue = "\(error.problem)"
                Logger(label: "latchkey.service").warning(
                    "the keychain was not unlocked automatically", metadata: ["reason": reason])
            }
            return false
        }
    }
}
