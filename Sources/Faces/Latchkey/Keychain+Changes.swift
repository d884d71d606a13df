// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyService
internal import LinuxSystem

/// A notification that a keychain may have changed.
///
/// It does not describe the change: the process that makes the change does not report the items that it reads and
/// writes. Look again at the items that matter.
public struct KeychainChange: Sendable, Hashable {
    /// The number of notifications since ``Keychain/changes()`` was called, beginning with 1. It
    /// increases with every element. It skips numbers if notifications arrived faster than the task
    /// took them; they are then one element.
    public let number: Int
}

extension Keychain {
    /// Returns a notification after each change of the items, the passcode or the settings, by this
    /// process or any other.
    ///
    /// ```swift
    /// for await _ in try keychain.changes() {
    ///     accounts = try await keychain.async.items(GenericPassword.self)
    /// }
    /// ```
    ///
    /// A change that is made after this call returns is followed by an element, and the change can be read when the
    /// element arrives. Several changes can be one element. An element can be about items that this program has no
    /// access to, and about changes that are undone. If a process is killed at the end of its change, the change is
    /// announced together with the next one. The lock state is not part of the keychain; see ``lockStates()``.
    ///
    /// Nothing is polled: in files, inotify(7) reports signals that writers raise at the directory of
    /// the database, or latchkeyd reports them over a connection that is kept for this; a keychain in
    /// memory calls its observers. If latchkeyd is restarted, one element stands for the changes that
    /// were missed.
    ///
    /// The stream observes the keychain that the program uses when it calls this function. It ends
    /// with the task that reads it, and when the keychain is closed or its directory is renamed. The
    /// removal of the directory is not reported while the keychain is open. The stream has one
    /// reader; call the function again for another one.
    ///
    /// - Throws: errSecNotAvailable if latchkeyd has no place for another observer of this user, or
    ///   is older than this program; errSecIO if the system has no place for an observer.
    public func changes() throws(KeychainError) -> AsyncStream<KeychainChange> {
        let service = try open()
        let (stream, continuation) = AsyncStream.makeStream(
            of: KeychainChange.self, bufferingPolicy: .bufferingNewest(1))
        let notifications = NotificationCount()
        let number = try service.addChangeObserver { event in
            switch event {
            case .changed: notifications.yield(to: continuation)
            case .ended: continuation.finish()
            }
        }
        continuation.onTermination = { _ in service.removeChangeObserver(number) }
        return stream
    }
}

extension AsyncKeychain {
    /// Returns a notification after each change, as ``Keychain/changes()`` does.
    public func changes() async throws(KeychainError) -> AsyncStream<KeychainChange> {
        try await keychain.perform { keychain throws(KeychainError) in try keychain.changes() }
    }
}

/// Numbers the notifications of one stream.
private final class NotificationCount: Sendable {
    private let count = SystemMutex(0)

    func yield(to continuation: AsyncStream<KeychainChange>.Continuation) {
        // Under the lock, so that the numbers arrive in order.
        count.withLock { count in
            count += 1
            continuation.yield(KeychainChange(number: count))
        }
    }
}
