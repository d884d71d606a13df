// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import LinuxSystem
import Testing

/// A store, a mount point and a keychain for `latchkey mount`, run as a user types it. A file system that is still
/// mounted at the end is detached, and its process is killed.
final class MountCommandPlace: Sendable {
    /// The exit status and the output of a command.
    struct Ended: Sendable {
        let status: Int32
        let text: String
    }

    private let directory: TemporaryDirectory
    /// A part of both names. It identifies the processes.
    private let mark: String
    /// The names below the current directory of the commands.
    let storeName: String
    let mountName: String

    var store: String { "\(directory.path)/\(storeName)" }
    var mount: String { "\(directory.path)/\(mountName)" }

    init() throws {
        directory = try TemporaryDirectory()
        mark = RandomBytes.hexadecimal(count: 8)
        (storeName, mountName) = ("store-\(mark)", "mount-\(mark)")
        for name in [storeName, mountName, "home", "run"] { try Call.check(mkdir("\(directory.path)/\(name)", 0o700)) }
    }

    deinit {
        for point in [mount, store] {
            for _ in 0..<mounts(at: point) {
                _ = try? end("/bin/sh", ["-c", "umount -l \"$1\" || fusermount3 -uz \"$1\"", "sh", point])
            }
        }
        for process in servers { kill(process, SIGKILL) }
    }

    // MARK: Commands

    /// Runs `latchkey` until it ends; a command that does not end is killed, and has failed.
    func latchkey(_ words: String...) throws -> Ended { try latchkey(words) }

    func latchkey(_ words: [String]) throws -> Ended { try end(Executable.path("latchkey"), words) }

    /// Starts `latchkey` in the foreground.
    func start(_ words: String...) throws -> SpawnedProcess {
        try spawn(Executable.path("latchkey"), words, output: "\(directory.path)/foreground")
    }

    /// Starts the latchkeyd of the keychain. The commands use it from then on.
    func daemon() throws -> DaemonProcess { try DaemonProcess(in: directory) }

    /// Runs a script in the current directory of the commands; `$1` is `latchkey`.
    func shell(_ script: String, _ words: String...) throws -> Ended {
        try end("/bin/sh", ["-c", script, "sh", Executable.path("latchkey")] + words)
    }

    private func end(_ program: String, _ words: [String]) throws -> Ended {
        let output = "\(directory.path)/output-\(RandomBytes.hexadecimal(count: 8))"
        let process = try spawn(program, words, output: output)
        _ = eventually { !process.isRunning }
        // Without a signal if it has ended. Its child in the background is not waited for.
        let status = process.stop(signal: SIGKILL)
        return Ended(status: status, text: (try? String(contentsOfFile: output, encoding: .utf8)) ?? "")
    }

    private func spawn(_ program: String, _ words: [String], output: String) throws -> SpawnedProcess {
        // Nothing waits for the core dump of a process that crashes.
        let script = "ulimit -c 0; cd \"$1\" && shift && exec \"$@\""
        return try SpawnedProcess(
            ["/bin/sh", "-c", script, "sh", directory.path, program] + words,
            environment: [
                "LATCHKEY_HOME": "\(directory.path)/home", "XDG_RUNTIME_DIR": "\(directory.path)/run",
                "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "SWIFT_BACKTRACE": "enable=no",
            ], output: output)
    }

    // MARK: Mounted file systems

    /// How many file systems are mounted at a directory, one over the other. No process of a file
    /// system is asked.
    func mounts(at path: String) -> Int {
        // Other tests mount directories with names that are not UTF-8.
        let bytes = (try? Data(contentsOf: URL(filePath: "/proc/self/mountinfo"))) ?? Data()
        let table = String(decoding: bytes, as: UTF8.self)
        // The directory of temporary files can be behind a link.
        let name = "/" + path.split(separator: "/").suffix(2).joined(separator: "/")
        return table.split(separator: "\n").count { line in
            let fields = line.split(separator: " ")
            return fields.count > 4 && fields[4].hasSuffix(name)
        }
    }

    /// Returns whether the process of the file system at a directory has ended. The kernel's cache does not answer for
    /// it, as it does in stat(2).
    func isDead(_ path: String) -> Bool {
        var info = statvfs()
        return statvfs(path, &info) != 0 && errno == ENOTCONN
    }

    /// The processes that serve this place. One that has ended is left out, also if no process has waited
    /// for it: it has no arguments any more.
    var servers: [pid_t] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.filter { process in
            let text = (try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .isoLatin1)) ?? ""
            let words = text.split(separator: "\0")
            return words.contains("--ready-descriptor") && words.contains { $0.hasSuffix(mark) }
        }
    }
}
