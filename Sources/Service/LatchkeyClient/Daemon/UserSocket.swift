// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
public import LatchkeyService
internal import LinuxSystem

/// Where a user's own daemon listens.
public enum UserSocket {
    /// The sockets that clients try, in this order: in the runtime directory of the login session, and in the state
    /// directory of the home, where there is no such session.
    static func candidates(_ home: KeychainHome, _ environment: (String) -> String?) -> [String] {
        [inRuntimeDirectory(runtimeDirectory(environment) ?? standardDirectory), inHome(home)]
    }

    /// The socket of a daemon that a command starts: in the home, because homes of one user may share a
    /// runtime directory.
    public static func ofStartedDaemon(_ home: KeychainHome) -> String { inHome(home) }

    /// The longest path of a socket (unix(7)), without the final zero byte.
    private static let maxLength = 107

    /// nil also for the directory of another user, because the environment of su or sudo may name it: the XDG
    /// specification requires that it is the user's own.
    private static func runtimeDirectory(_ environment: (String) -> String?) -> String? {
        guard let path = environment("XDG_RUNTIME_DIR"), path.hasPrefix("/") else { return nil }
        guard let status = (try? FileStatus.of(path)) ?? nil else { return path }
        return status.owner == geteuid() ? path : nil
    }

    private static func inRuntimeDirectory(_ directory: String) -> String { "\(directory)/latchkey/socket" }

    /// The path in the state directory; for one that is too long, that in a directory of its own in /tmp.
    /// There another user can only be in the way: clients trust no daemon of another user.
    private static func inHome(_ home: KeychainHome) -> String {
        let path = "\(home.stateDirectory)/socket"
        guard path.utf8.count > maxLength else { return path }
        return "/tmp/latchkey-\(getuid())-\(String(digest(of: home.stateDirectory), radix: 16))/socket"
    }

    /// FNV-1a, to keep the homes of a user apart.
    private static func digest(of path: String) -> UInt64 {
        path.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    private static var standardDirectory: String { "/run/user/\(getuid())" }
}
