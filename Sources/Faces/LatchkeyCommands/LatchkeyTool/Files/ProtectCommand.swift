// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import FileProtection
internal import KeychainModel
internal import LatchkeyClient
internal import LinuxSystem

/// `latchkey protect`.
struct ProtectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.protect.rawValue, abstract: LatchkeySubcommand.protect.abstract,
        discussion: """
            CLASSES:
              complete        The file opens only while the keychain is unlocked.
              unless-open     It can be created at any time, and stays usable as long as it is open.
              first-unlock    It opens from the first unlock on.
              none            It opens always, on this device only.

            The plain content is removed when the protected file is durable. Its traces on disks, in snapshots and in \
            backups stay there. Owner, mode, times and attributes are kept; files with several names, links and files \
            of other users are refused.

            EXAMPLES:
              latchkey protect --class complete notes.txt
              latchkey protect --class first-unlock --recursive --dry-run Documents
              latchkey protect --policy --class complete Secrets
              latchkey protect status --json notes.txt
              latchkey protect repair notes.txt
              latchkey protect move --to-keychain scans/passport passport.tiff
            """,
        subcommands: [Files.self, Status.self, Rekey.self, Repair.self, Move.self], defaultSubcommand: Files.self)

    /// `latchkey protect FILE`.
    struct Files: ParsableSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "files", abstract: "Protect files, or change their class. The default.",
            discussion: """
                EXAMPLES:
                  latchkey protect --class complete notes.txt
                  latchkey protect --class complete ./status
                """)

        @Option(
            name: .customLong("class"),
            help: ArgumentHelp("When the files can be opened; see 'latchkey protect --help'.", valueName: "class"))
        var className: FileClassArgument

        @Option(help: ArgumentHelp("The access group of the files.", valueName: "group"))
        var accessGroup: String?

        @Flag(help: "Also give new files below the directories this class, by a file .latchkey-protect.")
        var policy = false

        @OptionGroup var options: FileBatchOptions

        func run(in session: CommandSession) throws(CommandFailure) {
            if policy { try writePolicies(in: session) }
            guard !policy || options.recursive else { return }
            let keys = try options.keys(in: session)
            let target = FileConversion.Target(className.protection, group: accessGroup)
            let dryRun = options.dryRun
            try options.batch(session, [.protected: "protected", .rewrapped: "changed", .repaired: "repaired"]).run(
                try options.tree()
            ) {
                (file, progress) throws(FileProtectionError) in
                try FileConversion(keys, dryRun: dryRun, progress: progress.add).protect(
                    file.name, in: file.directory, target)
            }
        }

        private func writePolicies(in session: CommandSession) throws(CommandFailure) {
            let policy = ProtectionPolicy(className.protection, group: accessGroup)
            for path in options.paths {
                try FileFailure.mapErrors(path) { () throws(FileProtectionError) in
                    let directory = try mapSystemErrors { () throws(SystemError) in try OpenDirectory(path) }
                    if !options.dryRun { try policy.write(in: directory) }
                }
                let verb = options.dryRun ? "would get" : "have"
                if !options.json {
                    try session.write("new files below \(path) \(verb) the class \(className.protection.name)\n")
                }
            }
        }
    }

    /// `latchkey protect rekey`.
    struct Rekey: ParsableSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "rekey", abstract: "Wrap the keys of protected files with the newest class keys.",
            discussion: """
                After a passcode was set, the keys of older files are still wrapped with class keys that were once \
                open without it. Only the headers are written; with --new-keys everything is encrypted again.

                EXAMPLES:
                  latchkey protect rekey --recursive Documents
                  latchkey protect rekey --new-keys notes.txt
                """)

        @Flag(help: "Give each file a new key of its own, and encrypt its content again.")
        var newKeys = false

        @OptionGroup var options: FileBatchOptions

        func run(in session: CommandSession) throws(CommandFailure) {
            let keys = try options.keys(in: session)
            let (dryRun, renews) = (options.dryRun, newKeys)
            try options.batch(session, [.rewrapped: "changed", .renewed: "encrypted again", .repaired: "repaired"]).run(
                try options.tree()
            ) {
                (file, progress) throws(FileProtectionError) in
                let conversion = FileConversion(keys, dryRun: dryRun, progress: progress.add)
                do throws(FileProtectionError) {
                    guard renews else {
                        return try conversion.rewrap(file.name, in: file.directory, FileConversion.Target(nil))
                    }
                    return try conversion.renew(file.name, in: file.directory)
                } catch {
                    // Plain files below a directory have no key.
                    guard case .notProtected = error, file.isBelowDirectory else { throw error }
                    return .unchanged
                }
            }
        }
    }
}

/// `latchkey unprotect`.
struct UnprotectCommand: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.unprotect.rawValue, abstract: LatchkeySubcommand.unprotect.abstract,
        discussion: """
            EXAMPLES:
              latchkey unprotect notes.txt
              latchkey unprotect --recursive --dry-run Documents
            """)

    @OptionGroup var options: FileBatchOptions

    func run(in session: CommandSession) throws(CommandFailure) {
        let keys = try options.keys(in: session)
        let dryRun = options.dryRun
        try options.batch(session, [.unprotected: "unprotected"]).run(try options.tree()) {
            (file, progress) throws(FileProtectionError) in
            try FileConversion(keys, dryRun: dryRun, progress: progress.add).unprotect(
                file.name, in: file.directory)
        }
    }
}
