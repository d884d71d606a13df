// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import Testing

/// A user on a system with an /etc of its own, in a mount namespace for each login. The logins run pam_latchkey.
final class LoginSystem {
    static let isPossible: Bool = {
        guard NamespaceTests.isPossible, SystemDaemon.isPossible, access("/usr/bin/pamtester", X_OK) == 0 else {
            return false
        }
        return access(module, R_OK) == 0 && access(program, X_OK) == 0
    }()
    static let reason: Comment = "needs root, namespaces, setpriv, pamtester, and the module of `make pam`"

    /// The module that `make pam` has built.
    static let module = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../.build/pam/pam_latchkey.so"
    ).standardized.path

    /// The login program beside it.
    private static let program = URL(filePath: module).deletingLastPathComponent().appending(path: "login_program").path

    /// Whether pam_latchkey runs latchkey, or a program with these lines, or one that does not exist.
    enum Command {
        case latchkey, script(String), missing
    }

    let home: String
    private let directory: TemporaryDirectory
    private let executables: SharedExecutables
    private let user: uid_t = 61_952
    private let userName = "latchkey-test"
    private let service = "latchkey-test"

    /// - Parameter password: the login password.
    init(password: String, _ command: Command = .latchkey) throws {
        executables = try SharedExecutables(["latchkey", "latchkeyd"])
        directory = try TemporaryDirectory(reachableByAll: ())
        home = "\(directory.path)/home"
        try FileManager.default.createDirectory(
            atPath: home, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        chown(home, user, user)
        try FileManager.default.copyItem(atPath: Self.module, toPath: "\(directory.path)/pam_latchkey.so")
        let options = try "command=\(path(of: command)) timeout=\(timeout(of: command))"
        try makeConfiguration(password, options)
        // A user changes the own password with it.
        try copy("/usr/bin/pamtester", to: "pamtester", mode: 0o4755)
    }

    deinit {
        for process in processes { kill(process, SIGKILL) }
    }

    // MARK: Files

    private func makeConfiguration(_ password: String, _ options: String) throws {
        let (etc, module) = ("\(directory.path)/etc", "\(directory.path)/pam_latchkey.so \(options)")
        try FileManager.default.createDirectory(atPath: "\(etc)/pam.d", withIntermediateDirectories: true)
        for name in ["nsswitch.conf", "ld.so.cache", "login.defs", "security"] {
            guard FileManager.default.fileExists(atPath: "/etc/\(name)") else { continue }
            try FileManager.default.copyItem(atPath: "/etc/\(name)", toPath: "\(etc)/\(name)")
        }
        let hash = try Executable.run("/usr/bin/openssl", ["passwd", "-6", password], home: "").output
        try write("root:x:0:0::/root:/bin/sh\n\(userName):x:\(user):\(user)::\(home):/bin/sh\n", to: "etc/passwd")
        try write("root:x:0:\nshadow:x:42:\n\(userName):x:\(user):\nmore:x:61953:\(userName)\n", to: "etc/group")
        try write("root:*:20000:0:99999:7:::\n\(userName):\(hash.dropLast()):20000:0:99999:7:::\n", to: "etc/shadow")
        chmod("\(etc)/shadow", 0o600)
        let lines = [
            "auth requisite pam_unix.so nodelay", "auth optional \(module)", "account required pam_permit.so",
            "password requisite pam_unix.so", "password optional \(module)", "session required pam_permit.so",
            "session optional \(module)",
        ]
        try write(lines.joined(separator: "\n") + "\n", to: "etc/pam.d/\(service)")
    }

    private func path(of command: Command) throws -> String {
        switch command {
        case .latchkey: return executables.path("latchkey")
        case .missing: return "\(directory.path)/missing"
        case .script(let lines):
            try write("#!/bin/sh\n\(lines)\n", to: "texts/command")
            try copy("\(directory.path)/texts/command", to: "command", mode: 0o755)
            return "\(directory.path)/command"
        }
    }

    /// In seconds. A busy machine may need many for latchkey.
    private func timeout(of command: Command) -> Int {
        if case .latchkey = command { 60 } else { 2 }
    }

    /// Another process writes the copy: a file that a child of another test has open cannot be executed.
    private func copy(_ path: String, to name: String, mode: Int) throws {
        let words = ["-m", String(mode, radix: 8), path, "\(directory.path)/\(name)"]
        #expect(try Executable.run("/usr/bin/install", words, home: "").status == 0)
    }

    private func write(_ text: String, to file: String) throws {
        let url = URL(filePath: "\(directory.path)/\(file)")
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    // MARK: Logins

    /// Logs in: authentication, then the session.
    ///
    /// - Returns: the output, and whether the login has succeeded.
    func login(_ password: String) throws -> Executable.Outcome {
        try inNamespace(
            ["/usr/bin/pamtester", service, userName, "authenticate", "open_session", "close_session"],
            input: "\(password)\n")
    }

    /// Logs in with a program that has threads, signals and children of its own (PAM/Testing/login_program.c).
    ///
    /// - Parameter sessionUser: the user of the session that begins after the authentication; nil for the same user.
    func loginWithOwnProgram(_ password: String, sessionUser: String? = nil) throws -> Executable.Outcome {
        try inNamespace([Self.program, service, userName, sessionUser ?? userName], input: "\(password)\n")
    }

    /// Changes the password as the user does.
    func changePassword(from old: String, to new: String) throws -> Executable.Outcome {
        try inNamespace(
            asUser(["\(directory.path)/pamtester", service, userName, "chauthtok"]),
            input: "\(old)\n\(new)\n\(new)\n")
    }

    /// Changes the password as the administrator does, who does not know the old one.
    func resetPassword(to new: String) throws -> Executable.Outcome {
        try inNamespace(
            ["/usr/bin/pamtester", service, userName, "chauthtok"], input: "\(new)\n\(new)\n")
    }

    private func inNamespace(_ words: [String], input: String) throws -> Executable.Outcome {
        let script = "mount --bind '\(directory.path)/etc' /etc && exec \"$@\""
        return try Executable.run(
            "/usr/bin/unshare", ["--mount", "/bin/sh", "-c", script, "sh"] + words, home: "",
            environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"], input: input)
    }

    private func asUser(_ words: [String]) -> [String] {
        ["/usr/bin/setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups"] + words
    }

    // MARK: The user's commands

    /// Runs `latchkey` as the user.
    @discardableResult
    func latchkey(_ words: String..., input: String? = nil) throws -> Executable.Outcome {
        let command = asUser([executables.path("latchkey")] + words)
        return try Executable.run(
            command[0], Array(command.dropFirst()), home: "",
            environment: ["HOME": home, "LATCHKEY_NO_DAEMON": "", "LATCHKEY_SYSTEM_SOCKET": "\(directory.path)/none"],
            input: input)
    }

    struct Status: Decodable {
        struct Wrong: Decodable {
            let count: Int
        }
        let lock: String
        let mode: String
        let exists: Bool
        let wrongPasscodes: Wrong?
        let tiedToLogin: Bool
    }

    func status() throws -> Status {
        let outcome = try latchkey("status", "--json")
        return try JSONDecoder().decode(Status.self, from: Data(outcome.output.utf8))
    }

    /// The running processes of the user.
    var processes: [pid_t] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.filter { process in
            var status = stat()
            return stat("/proc/\(process)", &status) == 0 && status.st_uid == user && ProcessTable.isRunning(process)
        }
    }

    /// The files of the user.
    func files() throws -> [String] { try FileManager.default.subpathsOfDirectory(atPath: home) }
}
