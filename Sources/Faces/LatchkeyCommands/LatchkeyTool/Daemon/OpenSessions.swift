// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// The sessions of a user that run at the same time. If one of them has unlocked the keychain, the last
/// one to end locks it.
///
/// Each holds a shared lock of one file (flock(2)), and the kernel releases it with the process. The file has a byte
/// from the first unlocking to the end of the last session.
final class OpenSessions {
    private let file: OwnedDescriptor
    private let path: String

    /// Joins them. Waits while the last of the others ends.
    ///
    /// - Parameter directory: a directory that only the user can write.
    init(in directory: String) throws(SystemError) {
        path = "\(directory)/sessions.lock"
        file = try OwnedDescriptor(opening: path, flags: O_RDWR | O_CREAT | O_NOFOLLOW)
        // Left by sessions that were killed.
        if try lock(LOCK_EX | LOCK_NB) { try setUnlocked(false) }
        _ = try lock(LOCK_SH)
    }

    /// Notes that the keychain was unlocked for the sessions.
    func noteUnlock() throws(SystemError) { try setUnlocked(true) }

    /// Leaves the others.
    ///
    /// - Returns: whether this was the last session, and the keychain was unlocked for them. No session
    ///   begins before the object has ended.
    func leave() throws(SystemError) -> Bool {
        guard try lock(LOCK_EX | LOCK_NB) else { return false }
        var status = stat()
        guard fstat(file.rawValue, &status) == 0 else { throw .last("read", path: path) }
        guard status.st_size > 0 else { return false }
        try setUnlocked(false)
        return true
    }

    /// Returns false if another process holds a lock that excludes this one.
    private func lock(_ kind: Int32) throws(SystemError) -> Bool {
        while flock(file.rawValue, kind) != 0 {
            if errno == EWOULDBLOCK { return false }
            guard errno == EINTR else { throw .last("lock", path: path) }
        }
        return true
    }

    private func setUnlocked(_ isUnlocked: Bool) throws(SystemError) {
        guard ftruncate(file.rawValue, isUnlocked ? 1 : 0) == 0 else { throw .last("write", path: path) }
    }
}
