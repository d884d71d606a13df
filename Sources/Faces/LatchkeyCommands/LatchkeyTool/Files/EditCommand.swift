// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import FileProtection
internal import Glibc
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// `latchkey edit`.
struct EditCommand: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.edit.rawValue, abstract: LatchkeySubcommand.edit.abstract,
        discussion: """
            The editor ($VISUAL, then $EDITOR, then vi) gets the content in a private directory in memory, removed \
            afterwards or by the next edit; swap space can have parts of it. If the keychain is locked meanwhile, the \
            command waits for it to be unlocked. If another program has changed the file meanwhile, nothing is stored, \
            and the edited text is kept in memory.

            Known editors are started so that they write no backups, histories and swap files elsewhere: vim, nvim, \
            nvi, nano, emacs, micro, joe, kak, hx, ed and 'code --wait'. For another one there is a warning.

            EXAMPLES:
              latchkey edit notes.txt
              EDITOR=nano latchkey edit --class complete new.txt
            """)

    @Argument(
        help: ArgumentHelp("The protected file; a new one is created with --class.", valueName: "file"),
        completion: .file())
    var path: FilePath

    @Option(
        name: .customLong("class"), help: ArgumentHelp("The class of a new file.", valueName: "class"))
    var className: FileClassArgument?

    @OptionGroup var keyOptions: FileKeyOptions

    func run(in session: CommandSession) throws(CommandFailure) {
        Self.sweep(in: session)
        let keys = try keyOptions.keys(in: session)
        let file = EditedFile(path, className?.protection, keys)
        let before = try FileFailure.mapErrors(path) { () throws(FileProtectionError) in try file.content() }
        let place = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try EditingPlace(name: path.lastComponent ?? "file", before ?? SharedSecret(copying: []))
        }
        let outcome = Result { () throws(CommandFailure) in try edit(file, before, place, session) }
        do throws(SystemError) { try place.remove() } catch {
            session.io.say("latchkey: parts of the text are left in memory: \(error.description)\n")
            // The first failure is the one that matters.
            try outcome.get()
            throw .status(KeychainError(ofFile: error))
        }
        try outcome.get()
    }

    private static func sweep(in session: CommandSession) {
        do throws(SystemError) {
            let count = try EditingDirectory.sweep()
            guard count > 0 else { return }
            Self.note(
                "removed the text of \(count == 1 ? "an edit that was" : "\(count) edits that were") killed", session)
        } catch {
            Self.note("the text of an edit that was killed is still in memory: \(error.description)", session)
        }
    }

    private static func note(_ text: TerminalText, hint: TerminalText? = nil, _ session: CommandSession) {
        guard !session.isQuiet else { return }
        session.io.say("latchkey: \(text)\n")
        if let hint { session.io.say("hint: \(hint)\n") }
    }

    /// - Parameter before: the text that was opened; nil for a new file.
    private func edit(
        _ file: EditedFile, _ before: SharedSecret?, _ place: EditingPlace, _ session: CommandSession
    ) throws(CommandFailure) {
        let editor = Editor.ofEnvironment
        if let warning = editor.warning { Self.note(warning.problem, hint: warning.hint, session) }
        let ending: ChildProcess.Ending
        do throws(SystemError) { ending = try editor.edit(place) } catch {
            throw .status(KeychainError(.notAvailable, error.description))
        }
        guard ending.status == 0 else {
            // A signal, as at the end of a terminal, is not a decision to drop the text. Some editors exit then
            // as after an error.
            if ending.status > 128 || ending.hasForwardedSignal,
                place.hasChanges(since: before ?? SharedSecret(copying: []))
            {
                session.io.say("latchkey: the edited text is in \(place.keepAll())\n")
            }
            throw .status(
                KeychainError(.userCanceled, "the editor ended with \(ending.status), so nothing was stored"))
        }
        let after: SharedSecret
        do throws(KeychainError) { after = try place.content() } catch {
            session.io.say("latchkey: the edited text was not stored; it is in \(place.keepAll())\n")
            throw .status(error)
        }
        guard after != before ?? SharedSecret(copying: []) else {
            return session.io.say("latchkey: \(path) was not changed\n")
        }
        try store(after, in: file, replacing: before, place, session)
    }

    /// Stores the content; waits while the class of the file is closed, if there is a person.
    private func store(
        _ content: SharedSecret, in file: EditedFile, replacing before: SharedSecret?, _ place: EditingPlace,
        _ session: CommandSession
    ) throws(CommandFailure) {
        while true {
            do throws(FileProtectionError) {
                try file.store(content, replacing: before)
                return place.release()
            } catch {
                guard case .key(let cause) = error, cause.status == .interactionNotAllowed,
                    session.io.isInputInteractive, awaitUnlock(place, session)
                else {
                    session.io.say("latchkey: the edited text was not stored; it is in \(place.keep())\n")
                    throw .status(KeychainError(error, path: path.description))
                }
            }
        }
    }

    /// Waits for a person. The text is kept meanwhile, however this process ends.
    ///
    /// - Returns: false at the end of the input.
    private func awaitUnlock(_ place: EditingPlace, _ session: CommandSession) -> Bool {
        if !place.isKept { session.io.say("latchkey: until it is stored, the edited text is in \(place.keep())\n") }
        session.io.say("latchkey: the keychain is locked: unlock it, then press Enter (latchkey unlock) ")
        do throws(KeychainError) {
            if try session.io.readLine() != nil { return true }
            session.io.say("\n")
        } catch {
            session.io.say("\nlatchkey: \(error.description)\n")
        }
        return false
    }
}
