// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import LinuxSystem
public import SecretMemory
internal import Synchronization

/// The passcode that a process can give without asking anybody, or by asking somebody at its terminal: from a file or a credential of its own.
///
/// It is asked for only when something is closed, by one thread at a time, and one that was wrong is not judged again: judging takes a while by
/// design, and a wrong passcode does not become right.
public final class AutomaticUnlock: Sendable {
    public typealias Source = @Sendable () throws(KeychainError) -> SharedSecret?

    private let source: Source
    private let semaphore = BinarySemaphore()
    private let refused = Mutex<SharedSecret?>(nil)

    package init(_ source: @escaping Source) {
        self.source = source
    }

    /// Unlocks by the source's passcode, if there is one.
    ///
    /// - Parameters:
    ///   - isNeeded: asked once it is this thread's turn: another one may have unlocked meanwhile.
    ///   - unlock: answers false for a wrong passcode.
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
            throw KeychainError(.authFailed, "the passcode that this process was given is wrong")
        }
        return true
    }
}
