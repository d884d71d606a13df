// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import LatchkeyCommands
internal import LinuxSystem

/// `latchkey lint install-hook`.
struct LintInstallHook: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "install-hook", abstract: "Scan what is staged before each commit.",
        discussion: """
            Writes the hook pre-commit of a git repository. It runs 'latchkey lint --staged', with the baseline \
            .latchkey-baseline.json if the repository has that file, and refuses a commit with findings. A hook that exists \
            is not changed.

            EXAMPLES:
              latchkey lint install-hook
              latchkey lint install-hook --dry-run ~/src/app
            """)

    @Flag(help: "Show the path and the content, and write nothing.")
    var dryRun = false

    @Argument(help: "The repository. The default is the current directory.", completion: .directory)
    var repository: FilePath = "."

    private static let hook = """
        #!/bin/sh
        # Written by 'latchkey lint install-hook'.
        cd "$(git rev-parse --show-toplevel)" || exit 1
        if [ -f .latchkey-baseline.json ]; then
            exec latchkey lint --staged --baseline .latchkey-baseline.json
        fi
        exec latchkey lint --staged

        """

    func run(in session: CommandSession) throws(CommandFailure) {
        let path = try hookPath()
        if dryRun {
            return try session.write("\(TerminalText(path, maxLength: nil))\n\n\(TerminalText(lines: Self.hook))")
        }
        do throws(SystemError) {
            try NewFile.create(path, content: Array(Self.hook.utf8), mode: 0o755)
        } catch {
            guard error.code == 17 else { throw .parameter(error.description) }
            throw .parameter(
                "the repository has a hook: \(path)", hint: "add the line 'latchkey lint --staged || exit 1' to it")
        }
        session.io.say("each commit is scanned now, by \(TerminalText(path, maxLength: nil))\n")
    }

    private func hookPath() throws(CommandFailure) -> String {
        var git = try GitProcess(["rev-parse", "--path-format=absolute", "--git-path", "hooks"], in: repository)
        guard let line = try git.next(), let directory = String(validating: line, as: UTF8.self),
            directory.hasPrefix("/")
        else {
            throw .parameter("\(repository) is not a git repository")
        }
        if (try? FileStatus.of(directory)) ?? nil == nil {
            throw .parameter("\(directory) does not exist", hint: "mkdir \(directory)")
        }
        return "\(directory)/pre-commit"
    }
}
