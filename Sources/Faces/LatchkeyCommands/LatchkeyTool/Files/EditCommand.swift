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
            The editor ($VISUAL, then $EDITOR, then vi) gets the content in a private directory in memory, which is \
            removed afterwards; swap space can have parts of it. If the keychain is locked meanwhile, the command \
            waits for it to be unlocked, so that nothing is lost.

            EXAMPLES:
              latchkey edit notes.txt
              EDITOR=nano latchkey edit --class complete new.txt
            """)

    @Argument(
        help: ArgumentHelp("The protected file; a new one is created with --class.", valueName: "file"),
        completion: .file())
    var path: String

    @Option(
        name: .customLong("class"), help: ArgumentHelp("The class of a new file.", valueName: "class"))
    var className: FileClassArgument?

    @OptionGroup var keyOptions: FileKeyOptions

    func run(in session: CommandSession) throws(CommandFailure) {
        let keys = try keyOptions.keys(in: session)
        let file = EditedFile(path, className?.protection, keys)
        let before = try FileFailure.mapErrors(path) { () throws(FileProtectionError) in try file.content() }
        let place = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try EditingPlace(name: path.split(separator: "/").last.map(String.init) ?? "file", before)
        }
        defer { place.remove() }
        try Self.edit(place.path, in: session)
        let after = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try place.content() }
        guard after != before else { return session.io.say("latchkey: \(path) was not changed\n") }
        try store(after, in: file, place, session)
    }

    private static func edit(_ path: String, in session: CommandSession) throws(CommandFailure) {
        let editor = SecureEnvironment.value(of: "VISUAL") ?? SecureEnvironment.value(of: "EDITOR") ?? "vi"
        let status: Int32
        do throws(SystemError) {
            // As git does: the variable may have options.
            status = try ChildProcess.run(["sh", "-c", "\(editor) \"$@\"", editor, path])
        } catch {
            throw .status(KeychainError(.notAvailable, error.description))
        }
        guard status == 0 else {
            throw .status(
                KeychainError(.userCanceled, "the editor ended with \(status), so nothing was stored"))
        }
    }

    /// Stores the content; waits while the class of the file is closed, if there is a person.
    private func store(
        _ content: SharedSecret, in file: EditedFile, _ place: EditingPlace, _ session: CommandSession
    ) throws(CommandFailure) {
        while true {
            do throws(FileProtectionError) {
                return try file.store(content)
            } catch {
                guard case .key(let cause) = error, cause.status == .interactionNotAllowed,
                    session.io.isInputInteractive
                else {
                    place.keep()
                    session.io.say("latchkey: the edited text was not stored; it is in \(place.path)\n")
                    throw .status(KeychainError(error, path: path))
                }
                session.io.say("latchkey: the keychain is locked: unlock it, then press Enter (latchkey unlock) ")
                _ = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try session.io.readLine() }
            }
        }
    }
}
