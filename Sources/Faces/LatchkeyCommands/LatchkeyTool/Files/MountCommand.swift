// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// `latchkey mount`, which the program `latchkey-mount` runs.
struct MountCommand: ForwardedCommand {
    static let program = CompanionProgram.mount
    static let path: [String] = []
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.mount.rawValue, abstract: LatchkeySubcommand.mount.abstract,
        discussion: """
            The files and their names are stored encrypted in DIR. Programs see them as plain files at the mount \
            point, or in DIR itself, while the class is open; afterwards they get EACCES. Directories that do not exist \
            are created.

            The program latchkey-mount runs the command; 'latchkey-mount --help' shows the options.

            EXAMPLES:
              latchkey mount --class complete ~/Secrets
              latchkey mount ~/.secrets.store ~/Secrets
              fusermount3 -u ~/Secrets
            """)

    @Argument(parsing: .captureForPassthrough, help: "The directory and options.", completion: .directory)
    var words: [CommandWord] = []
}
