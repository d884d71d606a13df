// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
public import KeychainModel
internal import LinuxSystem

/// A daemon's ownership of a home: a lock while the daemon runs, and a marker file that remains.
///
/// The marker file states that the keychain belongs to a daemon. If no daemon answers, programs do
/// not open the files themselves: a program that relies on the daemon's lock and access control
/// must not silently get a keychain with weaker protection.
///
/// A daemon that a command has started owns the home only while it runs. Its marker file says so, and
/// counts for nothing after the daemon was killed.
public final class HomeOwnership: Sendable {
    private let lock: HomeLock
    /// The marker file to remove at the end; nil for one that remains.
    private let temporaryMarker: String?

    private init(_ lock: HomeLock, temporaryMarker: String? = nil) {
        (self.lock, self.temporaryMarker) = (lock, temporaryMarker)
    }

    deinit {
        // The lock is still held.
        if let temporaryMarker { unlink(temporaryMarker) }
    }

    /// Takes ownership of the home for this process as its daemon, and creates the marker file.
    ///
    /// - Parameter whileRunning: whether the home belongs to the daemon only while it runs, unless
    ///   it belonged to one before.
    /// - Throws: errSecNotAvailable if another daemon owns the home.
    public static func acquire(
        _ home: KeychainHome, whileRunning: Bool = false
    ) throws(KeychainError) -> HomeOwnership {
        do throws(SystemError) {
            try home.requireSafeIfNew()
            let data = try PrivateDirectory(creating: home.dataDirectory)
            let lock = try acquireLock(home)
            let marker = try PrivateFile.read(data.appending(markerName), atMost: 4096)
            let isTemporary = whileRunning && (marker == nil || marker == Array(temporaryText.utf8))
            let text = isTemporary ? temporaryText : markerText
            if marker == nil || (marker == Array(temporaryText.utf8) && !isTemporary) {
                try PrivateFile.replace(markerName, in: data, content: Array(text.utf8))
            }
            return HomeOwnership(lock, temporaryMarker: isTemporary ? data.appending(markerName) : nil)
        } catch {
            throw error.code == EWOULDBLOCK ? busy(home) : KeychainError(error)
        }
    }

    /// Removes the marker file, so that programs open the home directly again.
    ///
    /// - Returns: false if there was no marker file.
    /// - Throws: errSecNotAvailable if a daemon owns the home.
    public static func removeMarker(_ home: KeychainHome) throws(KeychainError) -> Bool {
        guard hasMarker(home) else { return false }
        let ownership = try acquireWithoutDaemon(home)
        defer { withExtendedLifetime(ownership) {} }
        guard unlink(markerPath(home)) == 0 else { throw KeychainError(.last("remove", path: markerPath(home))) }
        return true
    }

    /// Whether the home belongs to a daemon, running or not.
    public static func hasMarker(_ home: KeychainHome) -> Bool {
        guard faccessat(AT_FDCWD, markerPath(home), F_OK, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
        guard let marker = try? PrivateFile.read(markerPath(home), atMost: 4096), marker == Array(temporaryText.utf8)
        else { return true }
        // If it cannot be known, the home counts as one of a daemon.
        return (try? HomeLock.isHeld("\(home.stateDirectory)/\(lockName)")) ?? true
    }

    /// Locks the home against daemons during an operation on its files.
    static func acquireWithoutDaemon(_ home: KeychainHome) throws(KeychainError) -> HomeOwnership {
        do throws(SystemError) {
            return HomeOwnership(try acquireLock(home))
        } catch {
            throw error.code == EWOULDBLOCK ? busy(home) : KeychainError(error)
        }
    }

    /// Throws if the home belongs to a daemon.
    static func refuse(_ home: KeychainHome) throws(KeychainError) {
        guard hasMarker(home) else { return }
        if (try? FileSystem.isReadOnly(at: home.dataDirectory)) == true {
            throw KeychainError(
                .notAvailable,
                "the keychain in \(home.dataDirectory) belongs to latchkeyd; it cannot run on a read-only file system",
                hint:
                    "mount it read-write, or copy the data and state directories elsewhere and remove the file \(markerName) from the copy"
            )
        }
        throw KeychainError(
            .notAvailable, "the keychain in \(home.dataDirectory) belongs to latchkeyd, but latchkeyd does not answer",
            hint:
                "systemctl --user start latchkeyd.socket, or: latchkey daemon --user &; to use the keychain without it: latchkey daemon --user --release"
        )
    }

    private static func acquireLock(_ home: KeychainHome) throws(SystemError) -> HomeLock {
        let state = try PrivateDirectory(creating: home.stateDirectory)
        let path = state.appending(lockName)
        guard let lock = try HomeLock(path) else { throw SystemError("lock", path: path, code: EWOULDBLOCK) }
        return lock
    }

    private static func busy(_ home: KeychainHome) -> KeychainError {
        KeychainError(
            .notAvailable, "another latchkeyd owns the keychain in \(home.dataDirectory)",
            hint: "stop it first: systemctl --user stop latchkeyd.socket latchkeyd.service")
    }

    private static func markerPath(_ home: KeychainHome) -> String { "\(home.dataDirectory)/\(markerName)" }

    private static let markerName = "daemon"
    private static let markerText =
        "This keychain belongs to latchkeyd. `latchkey daemon --user --release` releases it.\n"
    private static let temporaryText =
        "This keychain belongs to the latchkeyd that a command has started, while it runs.\n"
    private static let lockName = "daemon.lock"
}
