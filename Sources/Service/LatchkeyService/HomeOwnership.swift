// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
public import KeychainModel
internal import LinuxSystem

/// A daemon's hold on a home: a lock for as long as it runs, and a mark that stays.
///
/// The mark says that the keychain belongs to a daemon. Where there is none to answer, nobody opens the files himself: a program that reckons
/// with a keychain that is locked, and that keeps others away, is never handed a weaker one without being told.
public final class HomeOwnership: Sendable {
    private let lock: HomeLock

    private init(_ lock: HomeLock) { self.lock = lock }

    /// Takes the home for the daemon that this process is, and marks it.
    ///
    /// - Throws: errSecNotAvailable where another daemon has it.
    public static func acquire(_ home: KeychainHome) throws(KeychainError) -> HomeOwnership {
        do throws(SystemError) {
            try home.requireSafeIfNew()
            let data = try PrivateDirectory(creating: home.dataDirectory)
            let ownership = try acquireLock(home)
            if try FileStatus.ofLink(data.appending(markerName)) == nil {
                try PrivateFile.replace(markerName, in: data, content: Array(markerText.utf8))
            }
            return ownership
        } catch {
            throw error.code == EWOULDBLOCK ? busy(home) : KeychainError(error)
        }
    }

    /// Gives a marked home back to the programs themselves.
    ///
    /// - Returns: false where it was not marked.
    /// - Throws: errSecNotAvailable where a daemon has it.
    public static func removeMarker(_ home: KeychainHome) throws(KeychainError) -> Bool {
        guard hasMarker(home) else { return false }
        let ownership = try acquireWithoutDaemon(home)
        defer { withExtendedLifetime(ownership) {} }
        guard unlink(markerPath(home)) == 0 else { throw KeychainError(.last("remove", path: markerPath(home))) }
        return true
    }

    /// Whether the home belongs to a daemon, running or not.
    public static func hasMarker(_ home: KeychainHome) -> Bool {
        faccessat(AT_FDCWD, markerPath(home), F_OK, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// Keeps daemons away while something is done to the files.
    static func acquireWithoutDaemon(_ home: KeychainHome) throws(KeychainError) -> HomeOwnership {
        do throws(SystemError) {
            return try acquireLock(home)
        } catch {
            throw error.code == EWOULDBLOCK ? busy(home) : KeychainError(error)
        }
    }

    /// Refuses to open a home that belongs to a daemon.
    static func refuse(_ home: KeychainHome) throws(KeychainError) {
        guard hasMarker(home) else { return }
        if (try? FileSystem.isReadOnly(at: home.dataDirectory)) == true {
            throw KeychainError(
                .notAvailable,
                "the keychain in \(home.dataDirectory) belongs to latchkeyd, which cannot run on a read-only file system",
                hint:
                    "mount it writable, or copy the data and state directories elsewhere and remove the copy's file \(markerName)"
            )
        }
        throw KeychainError(
            .notAvailable, "the keychain in \(home.dataDirectory) belongs to latchkeyd, which does not answer",
            hint:
                "systemctl --user start latchkeyd.socket, or: latchkeyd --user &; to do without it: latchkeyd --user --release"
        )
    }

    private static func acquireLock(_ home: KeychainHome) throws(SystemError) -> HomeOwnership {
        let state = try PrivateDirectory(creating: home.stateDirectory)
        let path = state.appending(lockName)
        guard let lock = try HomeLock(path) else { throw SystemError("take", path: path, code: EWOULDBLOCK) }
        return HomeOwnership(lock)
    }

    private static func busy(_ home: KeychainHome) -> KeychainError {
        KeychainError(
            .notAvailable, "another latchkeyd has the keychain in \(home.dataDirectory)",
            hint: "stop it first: systemctl --user stop latchkeyd.socket latchkeyd.service")
    }

    private static func markerPath(_ home: KeychainHome) -> String { "\(home.dataDirectory)/\(markerName)" }

    private static let markerName = "daemon"
    private static let markerText = "This keychain belongs to latchkeyd. `latchkeyd --user --release` gives it back.\n"
    private static let lockName = "daemon.lock"
}
