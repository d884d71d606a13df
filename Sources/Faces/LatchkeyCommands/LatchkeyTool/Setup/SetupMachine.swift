// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import LinuxSystem

/// The machine that `latchkey setup` looks at: the directories and the environment of a user, and the programs and
/// files of the system. Tests make one of a directory.
struct SetupMachine: Sendable {
    /// Precedes the paths of the system; empty for the machine itself.
    var root = ""
    var home: String
    var configDirectory: String
    var dataDirectory: String
    var runtimeDirectory: String?
    /// The name of the login shell.
    var shell: String?
    /// Whether the session has a display.
    var hasDisplay = false
    /// The path of this program; nil if it is not known.
    var executable: String?
    /// The owner of the directories that may be changed.
    var user: UInt32 = geteuid()
    /// Runs a program without output, and returns its exit value.
    var run: @Sendable ([String]) throws(SystemError) -> Int32 = SetupMachine.execute
    /// Runs a program with the terminal and the standard error of this process, and without output.
    var runShowingErrors: @Sendable ([String]) throws(SystemError) -> Int32 = SetupMachine.executeVisibly
    /// The variables of the environment that select another keychain than that of the session bus's services.
    var redirections: [String] = []
    /// The Secret Service of the session bus; nil without a session bus.
    var secretService: @Sendable () -> SecretServiceStatus? = SecretServiceStatus.current
    /// Lets the session bus start its Secret Service, and returns it.
    var startSecretService: @Sendable () throws(KeychainError) -> SecretServiceStatus = SecretServiceStatus.started
    /// Ends a process of this user, and waits for its end.
    var end: @Sendable (_ process: Int32) throws(SystemError) -> Void = SetupMachine.end
    /// Creates a file as a whole. The file must not exist.
    var create: @Sendable (_ path: String, _ content: [UInt8]) throws(SystemError) -> Void = SetupMachine.write

    /// - Throws: errSecNoDefaultKeychain if `HOME` names no directory.
    static func current() throws(KeychainError) -> SetupMachine {
        guard let home = SecureEnvironment.value(of: "HOME"), home.hasPrefix("/") else {
            throw KeychainError(
                .noDefaultKeychain, "HOME names no directory, so there is nothing to set up for a user",
                hint: "export HOME=/path/of/the/home/directory")
        }
        // Refuses directories that are not UTF-8.
        _ = try KeychainClient.home()
        let shell = SecureEnvironment.value(of: "SHELL")?.split(separator: "/").last.map(String.init)
        return SetupMachine(
            home: home, configDirectory: directory("XDG_CONFIG_HOME") ?? "\(home)/.config",
            dataDirectory: directory("XDG_DATA_HOME") ?? "\(home)/.local/share",
            runtimeDirectory: directory("XDG_RUNTIME_DIR"), shell: shell,
            hasDisplay: SecureEnvironment.value(of: "DISPLAY") != nil
                || SecureEnvironment.value(of: "WAYLAND_DISPLAY") != nil,
            executable: Installation.ownExecutable,
            redirections: ["LATCHKEY_HOME", "LATCHKEY_KEYCHAIN", "LATCHKEY_EPHEMERAL"].filter {
                SecureEnvironment.value(of: $0) != nil
            })
    }

    /// - Throws: errSecNotAvailable if the home directory, or one of the user's other directories, is another user's,
    ///   as it can be under sudo: files that are created there would be root's.
    func requireOwnDirectories() throws(KeychainError) {
        for (noun, path) in [
            ("home directory", home), ("directory of settings", configDirectory), ("directory of data", dataDirectory),
        ] {
            guard let owner = try owner(of: path), owner != user else { continue }
            throw KeychainError(
                .notAvailable, "the \(noun) \(path) belongs to user \(owner), and this is user \(user)",
                hint: user == 0
                    ? "run it as that user, without sudo; sudo -H latchkey setup is for root itself"
                    : "export HOME=/path/of/the/home/directory; XDG_CONFIG_HOME and XDG_DATA_HOME count as well")
        }
    }

    /// The owner of a directory; nil if it does not exist.
    private func owner(of path: String) throws(KeychainError) -> UInt32? {
        do throws(SystemError) {
            return try FileStatus.of(path)?.owner
        } catch {
            throw KeychainError(ofFile: error)
        }
    }

    /// XDG Base Directory Specification: relative paths must be ignored.
    private static func directory(_ variable: String) -> String? {
        SecureEnvironment.value(of: variable).flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    private static func write(_ path: String, _ content: [UInt8]) throws(SystemError) {
        try NewFile.create(path, content: content, mode: 0o644)
    }

    private static func executeVisibly(_ words: [String]) throws(SystemError) -> Int32 {
        try ChildProcess.run(["/bin/sh", "-c", "exec \"$0\" \"$@\" > /dev/null"] + words)
    }

    private static func end(_ process: Int32) throws(SystemError) {
        let directory = ProcessDirectory(process)
        guard let start = directory.startTime else { return }
        guard kill(process, SIGTERM) == 0 else {
            guard errno != ESRCH else { return }
            throw SystemError.last("end process \(process)")
        }
        for _ in 0..<Self.endAttempts {
            // Another process may have its number by now.
            guard directory.isRunning, directory.startTime == start else { return }
            usleep(Self.endPause)
        }
        throw SystemError("end process \(process)", code: ETIMEDOUT)
    }

    /// 10 s.
    private static let endAttempts = 500
    private static let endPause: UInt32 = 20_000

    private static func execute(_ words: [String]) throws(SystemError) -> Int32 {
        try ChildProcess.run(words, input: UnsafeRawBufferPointer(start: nil, count: 0))
    }
}

// MARK: - Questions

extension SetupMachine {
    /// The group, other than root's, that may read and write a file of the system; nil if there is none.
    func systemGroup(thatUses path: String) -> String? {
        var info = stat()
        guard stat(root + path, &info) == 0, info.st_mode & 0o060 == 0o060, info.st_gid != 0,
            let entry = getgrgid(info.st_gid)
        else { return nil }
        return String(cString: entry.pointee.gr_name)
    }

    /// Whether a file or directory of the system exists.
    func hasSystem(_ path: String) -> Bool { access(root + path, F_OK) == 0 }

    func has(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// The first of the system's files that exists.
    func firstSystem(of paths: [String]) -> String? { paths.first(where: hasSystem) }

    /// The path of an installed program; nil if there is none.
    func program(_ name: String) -> String? {
        let paths = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"].map { "\($0)/\(name)" }
        return paths.first { access(root + $0, X_OK) == 0 }
    }

    /// The path of another program of the same installation; nil if it is not installed.
    func companion(_ name: String) -> String? { executable.flatMap { Installation(of: $0).program(name) } }

    /// The text of a small file; nil if it is missing, or cannot be read.
    func text(of path: String) -> String? {
        guard let bytes = try? BoundedFile.read(path, limit: Self.maxLength) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    func systemText(of path: String) -> String? { text(of: root + path) }

    /// The maximum length of a file that setup reads, in bytes.
    static let maxLength = 1 << 20

    /// Whether systemd runs this user's manager, the peer of `systemctl --user`.
    var hasUserManager: Bool { runtimeDirectory.map { has("\($0)/systemd/private") } ?? false }

    /// Whether the machine's latchkeyd listens.
    var hasSystemDaemon: Bool { hasSystem("/run/latchkey/socket") }

    /// Whether a unit of a user is installed.
    func hasUserUnit(_ name: String) -> Bool {
        has("\(configDirectory)/systemd/user/\(name)") || has("\(dataDirectory)/systemd/user/\(name)")
            || ["/etc", "/usr/local/lib", "/usr/lib", "/lib"].contains { hasSystem("\($0)/systemd/user/\(name)") }
    }

    /// Whether a unit of a user is enabled, by the user or for all users.
    func enables(_ unit: String, by target: String) -> Bool {
        let link = "systemd/user/\(target).wants/\(unit)"
        var info = stat()
        // The link itself: where it leads may be missing.
        return lstat("\(configDirectory)/\(link)", &info) == 0 || lstat("\(root)/etc/\(link)", &info) == 0
    }

    /// Whether the user has masked a unit.
    func isMasked(_ unit: String) -> Bool {
        let target = Array("/dev/null".utf8)
        var buffer = [CChar](repeating: 0, count: target.count + 1)
        let count = readlink("\(configDirectory)/systemd/user/\(unit)", &buffer, buffer.count)
        return count == target.count && buffer.prefix(count).elementsEqual(target.map(CChar.init(bitPattern:)))
    }

    /// Whether one of the units that setup enables is enabled.
    func enables(_ unit: String) -> Bool {
        ["sockets.target", "default.target"].contains { enables(unit, by: $0) }
    }
}
