// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// Compares protected files with plain ones, with age and with gocryptfs.
struct FilesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "files", abstract: "Compare protected files with plain ones, with age and with gocryptfs.",
        discussion: """
            Rows of a tool that is not installed say so. The files have the class first-unlock, in a keychain without \
            a passcode. Cold reads empty the kernel's cache of the files that are read; where that is not possible, of \
            all files, if this user may. Exits with 0 even if a target is missed, and with 1 if an operation fails.
            """)

    @Flag(help: "A big file of 128 MiB instead of 1 GiB, and fewer rounds.")
    var quick = false

    @Option(
        help: ArgumentHelp("The executable `latchkey`.", valueName: "path"))
    var latchkey: String?

    @Option(help: ArgumentHelp("Also write the raw figures to this file.", valueName: "file"))
    var json: String?

    @Option(
        help: ArgumentHelp(
            "The directory for temporary files; on a real disk, not tmpfs. TMPDIR, or /var/tmp.", valueName: "dir"))
    var directory: String?

    func validate() throws {
        if let latchkey, !FileManager.default.isExecutableFile(atPath: latchkey) {
            throw ValidationError("--latchkey: \(latchkey) is not an executable file")
        }
    }

    func run() throws {
        let inherited = ProcessInfo.processInfo.environment
        let parent = directory ?? inherited["TMPDIR"] ?? "/var/tmp"
        // The kernel's list of mounts has no links.
        let temporary = try TemporaryDirectory(in: URL(fileURLWithPath: parent).resolvingSymlinksInPath().path)
        defer { temporary.remove() }
        // No daemon's socket is there, so that each process opens the keychain itself.
        let own = ["LATCHKEY_HOME": "\(temporary.path)/home", "XDG_RUNTIME_DIR": temporary.path]
        for (name, value) in own { setenv(name, value, 1) }
        unsetenv("LATCHKEY_EPHEMERAL")
        var environment = inherited.merging(own) { _, new in new }
        environment["LATCHKEY_EPHEMERAL"] = nil
        let executable = latchkey.map { URL(fileURLWithPath: $0).path }
        let report = try FilesBenchmark(
            isQuick: quick, latchkey: executable, directory: temporary.path, environment: environment
        ).run()
        print(report.text)
        if let json { try report.write(to: json) }
    }
}
