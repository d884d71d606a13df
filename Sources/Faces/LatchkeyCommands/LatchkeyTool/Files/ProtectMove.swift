// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

extension ProtectCommand {
    /// `latchkey protect move`.
    struct Move: ParsableSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "move", abstract: "Move a plain file into the keychain, or out of it.",
            discussion: """
                The keychain stores the file in its own directory, encrypted with a key that is in an item. The file \
                opens when the item does, and is deleted with it ('latchkey rm'). 'latchkey cat --from-keychain' \
                prints it, and 'latchkey backup --include-files' saves it.

                The original is removed when the copy is durable. Its traces on disks, in snapshots and in backups \
                stay there.

                EXAMPLES:
                  latchkey protect move --to-keychain scans/passport passport.tiff
                  latchkey protect move --to-keychain scans/passport \\
                      --class first-unlock passport.tiff
                  latchkey protect move --from-keychain scans/passport passport.tiff
                """)

        @Option(help: ArgumentHelp("The name of the new file in the keychain.", valueName: "service/account"))
        var toKeychain: String?

        @Option(help: ArgumentHelp("The name of a file in the keychain.", valueName: "service/account"))
        var fromKeychain: String?

        @Argument(help: ArgumentHelp("The plain file.", valueName: "file"), completion: .file())
        var path: FilePath

        @Option(
            name: .customLong("class"),
            help: ArgumentHelp("When the file can be opened: complete, first-unlock or none.", valueName: "class"))
        var className: FileClassArgument?

        @Option(help: ArgumentHelp("The access group of the file in the keychain.", valueName: "group"))
        var accessGroup: String?

        @Flag(help: "Replace a file of the same name in the keychain.")
        var replace = false

        @Flag(name: [.customShort("n"), .long], help: "Check everything, and change nothing.")
        var dryRun = false

        @Flag(help: "Print a summary as JSON.")
        var json = false

        @OptionGroup var passcode: PasscodeOptions

        func validate() throws {
            guard (toKeychain == nil) != (fromKeychain == nil) else {
                throw ValidationError("give either --to-keychain or --from-keychain")
            }
            if fromKeychain != nil, className != nil || accessGroup != nil || replace {
                throw ValidationError("--class, --access-group and --replace belong to --to-keychain")
            }
            if className?.protection == .completeUnlessOpen {
                throw ValidationError("a file in the keychain has the class complete, first-unlock or none")
            }
        }

        func run(in session: CommandSession) throws(CommandFailure) {
            passcode.unlockOnDemand(in: session)
            let file = try MovableFile(path)
            if let toKeychain { return try store(file, as: toKeychain, in: session) }
            if let fromKeychain { try extract(fromKeychain, to: file, in: session) }
        }

        private func store(
            _ file: MovableFile, as name: String, in session: CommandSession
        ) throws(CommandFailure) {
            try file.requireMovable()
            let target = try ItemOptions.target(ofFileNamed: name, group: accessGroup)
            try target.requireKey()
            let keychain = try session.keychain()
            let existing = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
                try PasswordSearch.existing(
                    target.keyQuery, returning: .attributes, in: keychain, for: PersonPrompt())
            }
            guard existing == nil || replace else {
                throw .status(
                    KeychainError(
                        .duplicateItem, "'\(name)' exists in the keychain",
                        hint: "choose another name; --replace replaces a file"))
            }
            guard !dryRun else { return try report("would be moved into the keychain", session) }
            let progress = FileProgress(BatchOutput(session.io, dryRun: false, isQuiet: session.isQuiet))
            defer { progress.end() }
            let item = ItemAddition(
                .genericPassword, attributes: target.completed, accessGroup: target.group,
                protection: className?.protection.itemProtection)
            try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
                let reader = try PlainFileReader(path)
                try keychain.storeFile(item, replaces: replace) { () throws(KeychainError) in
                    guard let part = try reader.next() else {
                        try file.requireUnchanged(reader)
                        return nil
                    }
                    progress.add(UInt64(part.count))
                    return part
                }
                try file.requireUnchanged(reader)
                try file.remove()
            }
            progress.end()
            try report("moved into the keychain", session)
        }

        private func extract(
            _ name: String, to file: MovableFile, in session: CommandSession
        ) throws(CommandFailure) {
            var copy = try StoredFileCopy(named: name, in: session)
            try file.requireAbsent()
            guard !dryRun else { return try report("would be moved out of the keychain", session) }
            let progress = FileProgress(BatchOutput(session.io, dryRun: false, isQuiet: session.isQuiet))
            defer { progress.end() }
            let draft = try PlainDraft(file)
            try copy.forEachPart { (part, _) throws(CommandFailure) in
                try draft.append(part)
                progress.add(UInt64(part.count))
            }
            try draft.publish()
            try copy.delete()
            progress.end()
            try report("moved out of the keychain", session)
        }

        private func report(_ verb: String, _ session: CommandSession) throws(CommandFailure) {
            if json {
                return try session.write(JSONText.of(MoveReport(file: path.description, result: verb)))
            }
            if !session.isQuiet { try session.write("\(verb): \(path)\n") }
        }
    }
}

/// The report of `latchkey protect move`, in the shape of its JSON.
private struct MoveReport: Encodable {
    let file: String
    let result: String
}
