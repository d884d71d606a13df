// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyClient
internal import LinuxSystem
internal import SecretMemory

/// The source of a passcode: a file or a descriptor that the command line names, the environment,
/// the terminal, or a line of standard input. Never an argument.
struct PasscodeSource: Sendable {
    var file: FilePath?
    var descriptor: Int32?
    /// The name of the file option, for messages.
    var fileOption = "--passcode-file"
    /// The name of the secret, for messages: `passcode`, `passphrase` or `recovery key`.
    var noun = "passcode"
    /// Whether the environment may name the source.
    var usesEnvironment = true

    /// The prompt for the passcode in every command of Latchkey's own.
    static let prompt: StaticString = "passcode of the keychain: "

    /// Returns the passcode. Prompts with `prompt` if no source is named.
    ///
    /// - Throws: errSecInteractionNotAllowed if there is no source.
    func read(_ prompt: StaticString = prompt, in session: CommandSession) throws(KeychainError) -> SharedSecret {
        if let named = try named() { return named }
        return try ask(prompt, in: session)
    }

    private func ask(_ prompt: StaticString, in session: CommandSession) throws(KeychainError) -> SharedSecret {
        guard session.io.isInputInteractive else {
            guard let line = try session.io.readLine() else {
                throw KeychainError(
                    .interactionNotAllowed,
                    "a \(noun) is required; standard input ended, but a line with it was expected",
                    hint: "\(fileOption) FILE, or a line of standard input")
            }
            return line
        }
        guard let answer = try session.io.readSecret(prompt: prompt) else {
            session.io.say("\n")
            throw KeychainError(.userCanceled)
        }
        return answer
    }

    /// Returns a new passcode. On a terminal, it is prompted for twice. In a pipe, a second line is its
    /// repetition and must be equal.
    func readNew(_ prompt: StaticString, in session: CommandSession) throws(CommandFailure) -> SharedSecret {
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            if let named = try named() { return named }
            let passcode = try ask(prompt, in: session)
            guard try repetition(in: session) ?? passcode == passcode else {
                throw KeychainError(.param, "the two \(noun)s differ; nothing was changed")
            }
            return passcode
        }
    }

    /// Returns nil if standard input is no terminal, and has ended or continues with commands.
    private func repetition(in session: CommandSession) throws(KeychainError) -> SharedSecret? {
        if session.io.isInputInteractive { return try ask("repeat it: ", in: session) }
        return session.readsCommands ? nil : try session.io.readLine()
    }

    /// Returns the passcode from the source that the options or the environment name; nil if they
    /// name none.
    func named() throws(KeychainError) -> SharedSecret? {
        if let named = try namedByOption() { return named }
        return usesEnvironment ? try KeychainClient.passcodeOfEnvironment() : nil
    }

    /// Returns the passcode from the source that an option names; nil if none does.
    func namedByOption() throws(KeychainError) -> SharedSecret? {
        if let file { return try PasscodeFile.read(file) }
        if let descriptor { return try PasscodeFile.read(descriptor: descriptor) }
        return nil
    }
}
