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

    /// Returns the passcode. Prompts with `prompt` if no source is named.
    ///
    /// - Throws: errSecInteractionNotAllowed if there is no source.
    func read(_ prompt: StaticString, in session: CommandSession) throws(KeychainError) -> SharedSecret {
        if let named = try named() { return named }
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

    /// Returns a new passcode. On a terminal, it is prompted for twice.
    func readNew(_ prompt: StaticString, in session: CommandSession) throws(CommandFailure) -> SharedSecret {
        let passcode = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try read(prompt, in: session) }
        guard !isNamed, session.io.isInputInteractive else { return passcode }
        let confirmation = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try read("repeat it: ", in: session)
        }
        guard confirmation == passcode else {
            throw .status(KeychainError(.param, "the two \(noun)s differ; nothing was changed"))
        }
        return passcode
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

    private var isNamed: Bool { file != nil || descriptor != nil }
}
