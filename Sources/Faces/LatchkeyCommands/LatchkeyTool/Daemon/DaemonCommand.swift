// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import LinuxSystem

/// `latchkey daemon`.
struct DaemonCommand: ForwardedCommand {
    static let program = CompanionProgram.daemon
    static let path: [String] = []
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.daemon.rawValue, abstract: LatchkeySubcommand.daemon.abstract,
        discussion: """
            Runs latchkeyd with these arguments; it is in no directory of PATH. It stays in the foreground. Where \
            systemd runs, its socket starts latchkeyd: systemctl --user enable --now latchkeyd.socket

            The manual page latchkeyd(8) has all options.

            EXAMPLES:
              latchkey daemon --user &
              latchkey daemon --user --release
              latchkey daemon --system --release
            """)

    @Argument(
        parsing: .captureForPassthrough, help: "The arguments of latchkeyd.",
        completion: .list(["--user", "--system", "--release"]))
    var words: [CommandWord] = []
}
