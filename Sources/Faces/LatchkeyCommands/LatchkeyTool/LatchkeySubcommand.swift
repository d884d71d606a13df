// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import LinuxSystem

/// Latchkey's own sub-commands.
enum LatchkeySubcommand: String, CaseIterable, Sendable {
    // The commands for daily use. The program has them only under the name `latchkey`, because some
    // of the names are abbreviations of macOS's commands.
    case set, get, copy, generate, list, mv, rm
    case status, doctor, passcode, lock, unlock, settings
    case recoveryKey = "recovery-key"
    case securityKey = "security-key"
    case root
    case backup, restore
    case key, certificate, trust, ats, tls, pin
    case protect, unprotect, cat, edit, mount
    case who, entitlements, policy, log
    case withPasscode = "with-passcode"
    case agent, session, collection, consent, daemon
    case lint
    case setup, explain

    /// Whether this is one of the commands for daily use. The program has them only under the name `latchkey`.
    var isDaily: Bool { definition != nil }

    /// Returns the command with this name, if the program has it under the name it was called by.
    init?(_ name: String, for program: Program) {
        guard let command = LatchkeySubcommand(rawValue: name), program == .latchkey || !command.isDaily else {
            return nil
        }
        self = command
    }

    /// The one-line description.
    var abstract: String {
        switch self {
        case .set: "Store a secret, from a prompt, a pipe or a file."
        case .get: "Print a secret; on a terminal it is masked."
        case .copy: "Copy a secret to the clipboard, and clear it later."
        case .generate: "Generate a random password, and store it."
        case .list: "List the items, without their secrets."
        case .mv: "Move items to another access group."
        case .rm: "Delete items."
        case .status: "Show where the keychain is, its protection and its content."
        case .doctor: "Check the keychain, and show how to repair it."
        case .passcode: "Set, change or remove the passcode of the keychain."
        case .lock: "Lock the keychain."
        case .unlock: "Unlock the keychain."
        case .settings: "Show or change when the keychain locks itself."
        case .backup: "Save the items in an encrypted file."
        case .restore: "Restore the items of a backup."
        case .key: "Generate keys, and sign, verify, encrypt and decrypt with them."
        case .certificate: "Show the contents of certificates, and those that expire soon."
        case .trust: "Explain why a certificate is trusted or not, and trust Apple's roots."
        case .ats: "Check App Transport Security settings."
        case .tls: "Check how a server is reached with TLS."
        case .pin: "Store, list and check the pins of hosts."
        case .protect: "Protect files, so that they obey the lock of the keychain."
        case .unprotect: "Make protected files plain ones."
        case .cat: "Print protected files."
        case .edit: "Edit a protected file, without a plain copy on the disk."
        case .mount: "Show a directory of protected files as plain ones."
        case .who: "Show the caller identity, and how it was determined."
        case .entitlements: "Show the access groups that a file gives to a program."
        case .policy: "Require the person for every secret of an access group."
        case .log: "Show or verify latchkeyd's audit log."
        case .withPasscode: "Run a program with the keychain unlocked."
        case .daemon: "Run latchkeyd for the keychain of all programs, or release its keychain."
        case .session: "Run a program with a session bus that has the keychain."
        case .collection: "List, create, rename and delete the collections of desktop programs."
        case .consent: "Allow, list and revoke reads of desktop programs without a question."
        case .lint: "Find secrets that lie in the clear in files."
        case .setup: "Show the steps that set up this machine, and do or undo them."
        case .explain: "Explain the identifier of an error, a status or an exit value."
        case .agent: "Ask for the passcode in this session, for the system's latchkeyd."
        case .securityKey: "Enroll, list and remove security keys that open items by a touch."
        case .root: "Show where the device key is, and move it to or from the TPM."
        case .recoveryKey: "Create or use a recovery key, for a lost passcode or device key."
        }
    }

    /// - Parameter words: the command's name and its arguments.
    /// - Returns: the status; 0 is success.
    func execute(_ words: ArraySlice<CommandWord>, in session: CommandSession) -> Int32 {
        switch implementation {
        case .daily(let command): return command.execute(words.dropFirst(), in: session)
        case .parsable(let command):
            // The tree of all commands takes longer to make than the command to run. It is made for help and for
            // errors, because they name the whole command line.
            var session = session
            session.words = words
            let parsed = try? ArgumentText.parse(command, words.dropFirst())
            if let parsed = parsed as? any ParsableSubcommand { return parsed.exitStatus(in: session) }
            return Self.executeRoot(words, in: session)
        }
    }

    /// Runs a command line that may have `--help`, `--version` or `--generate-completion-script` instead of a command's
    /// name.
    static func executeRoot(_ words: ArraySlice<CommandWord>, in session: CommandSession) -> Int32 {
        if words.first == "--help" { return HelpCommand.execute(words.dropFirst(), in: session) }
        do {
            var command = try ArgumentText.parse(LatchkeyCommand.self, words)
            if let own = command as? any ParsableSubcommand { return own.exitStatus(in: session) }
            // The root itself, or the parser's own help command; it throws its text.
            try command.run()
            return 0
        } catch {
            return answer(error, to: words.map(\.text), in: session)
        }
    }

    func help(columns: Int?) -> TerminalText { help(of: [], columns: columns).text }

    /// The help of the command, or of the sub-command that the words after it name, and how many of the words do.
    func help(of words: some Sequence<String>, columns: Int?) -> (text: TerminalText, used: Int) {
        switch implementation {
        case .daily(let command):
            return (command.definition.help(columns: columns), 0)
        case .parsable(let command):
            var (found, used) = (command, 0)
            for word in words {
                let next = found.configuration.subcommands.first { $0.configuration.commandName == word }
                guard let next else { break }
                (found, used) = (next, used + 1)
            }
            return (TerminalText(lines: LatchkeyCommand.helpMessage(for: found, columns: columns)), used)
        }
    }

    private enum Implementation {
        case daily(any DailyCommand.Type)
        /// A command that swift-argument-parser parses.
        case parsable(any ParsableCommand.Type)
    }

    private var implementation: Implementation {
        switch self {
        case .set: .daily(SetCommand.self)
        case .get: .daily(GetCommand.self)
        case .copy: .daily(CopyCommand.self)
        case .generate: .daily(GenerateCommand.self)
        case .list: .daily(ListCommand.self)
        case .mv: .daily(MoveCommand.self)
        case .rm: .daily(RemoveCommand.self)
        case .status: .parsable(StatusCommand.self)
        case .doctor: .parsable(DoctorCommand.self)
        case .passcode: .parsable(PasscodeCommand.self)
        case .lock: .parsable(LockCommand.self)
        case .unlock: .parsable(UnlockCommand.self)
        case .settings: .parsable(SettingsCommand.self)
        case .recoveryKey: .parsable(RecoveryKeyCommand.self)
        case .root: .parsable(RootCommand.self)
        case .securityKey: .parsable(SecurityKeyCommand.self)
        case .backup: .parsable(BackupCommand.self)
        case .restore: .parsable(RestoreCommand.self)
        case .key: .parsable(KeyCommand.self)
        case .certificate: .parsable(CertificateCommand.self)
        case .trust: .parsable(TrustCommand.self)
        case .ats: .parsable(ATSCommand.self)
        case .tls: .parsable(TLSCommand.self)
        case .pin: .parsable(PinCommand.self)
        case .protect: .parsable(ProtectCommand.self)
        case .unprotect: .parsable(UnprotectCommand.self)
        case .cat: .parsable(CatCommand.self)
        case .edit: .parsable(EditCommand.self)
        case .mount: .parsable(MountCommand.self)
        case .who: .parsable(WhoCommand.self)
        case .entitlements: .parsable(EntitlementsCommand.self)
        case .policy: .parsable(PolicyCommand.self)
        case .log: .parsable(LogCommand.self)
        case .withPasscode: .parsable(WithPasscodeCommand.self)
        case .agent: .parsable(AgentCommand.self)
        case .session: .parsable(SessionCommand.self)
        case .daemon: .parsable(DaemonCommand.self)
        case .collection: .parsable(CollectionCommand.self)
        case .consent: .parsable(ConsentCommand.self)
        case .lint: .parsable(LintCommand.self)
        case .setup: .parsable(SetupCommand.self)
        case .explain: .parsable(ExplainCommand.self)
        }
    }

    /// The definition of a daily command.
    var definition: CommandDefinition? {
        if case .daily(let command) = implementation { command.definition } else { nil }
    }

    /// The types that swift-argument-parser parses, in the order of the help text.
    static var parsableCommands: [any ParsableCommand.Type] {
        allCases.compactMap { if case .parsable(let command) = $0.implementation { command } else { nil } }
    }

    /// Handles the results that swift-argument-parser throws: help, a version, a completion script, or a parsing error.
    private static func answer(_ error: any Error, to words: [String], in session: CommandSession) -> Int32 {
        guard LatchkeyCommand.exitCode(for: error) != .success else {
            do throws(CommandFailure) {
                var text = LatchkeyCommand.fullMessage(for: error, columns: session.io.columns)
                if words.first?.hasPrefix("--generate-completion-script") == true {
                    text = CompletionScript.withListedCommands(text)
                }
                try session.write(TerminalText(lines: text.hasSuffix("\n") ? text : text + "\n"))
                return 0
            } catch {
                session.report(error, of: "help", as: .latchkey)
                return error.status
            }
        }
        session.reportUsage("\(ArgumentText.shown(LatchkeyCommand.message(for: error)))", hint: hint(for: words))
        return CommandFailure.usage(nil).status
    }

    /// Returns the words to type instead: the most similar sub-command, or the help of the command.
    private static func hint(for words: [String]) -> TerminalText {
        guard let own = words.first.flatMap(LatchkeySubcommand.init(rawValue:)),
            case .parsable(let command) = own.implementation
        else { return "latchkey --help" }
        let help: TerminalText = "latchkey \(own.rawValue) --help"
        let names = command.configuration.subcommands.map { $0._commandName }
        guard words.count > 1, !words[1].hasPrefix("-"), !names.contains(words[1]) else { return help }
        return Suggestion.nearest(to: words[1], among: names).map {
            "did you mean 'latchkey \(own.rawValue) \($0)'? \(help)"
        } ?? help
    }
}
