// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import FileProtection

extension ProtectCommand {
    /// `latchkey protect repair`.
    struct Repair: ParsableSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "repair", abstract: "Repair protected files with a damaged header.",
            discussion: """
                A protected file has two equal headers. If they differ, and it is not certain that the one that opens \
                is the newest, the file is not opened. This command reads the whole file, and stores the newest state \
                that can be read. If there may have been a newer state, the file as it was is kept beside it, as \
                FILE.damaged, or FILE.damaged.2 if another file has that name. A file that cannot be read whole is \
                left as it is.

                EXAMPLES:
                  latchkey protect repair --dry-run notes.txt
                  latchkey protect repair --recursive Documents
                """)

        @OptionGroup var options: FileBatchOptions

        func run(in session: CommandSession) throws(CommandFailure) {
            let keys = try options.keys(in: session)
            let dryRun = options.dryRun
            let verbs: [FileConversion.Outcome: String] = [
                .repaired: "repaired", .restored: "restored to its newest whole state, the former file is kept",
            ]
            try options.batch(session, verbs).run(try options.tree()) { (file, progress) throws(FileProtectionError) in
                do throws(FileProtectionError) {
                    return try FileConversion(keys, dryRun: dryRun, progress: progress.add).repair(
                        file.name, in: file.directory)
                } catch {
                    // Plain files below a directory have no header.
                    guard case .notProtected = error, file.isBelowDirectory else { throw error }
                    return .unchanged
                }
            }
        }
    }
}
