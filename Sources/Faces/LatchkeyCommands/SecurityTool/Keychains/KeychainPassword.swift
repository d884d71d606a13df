// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// The passwords of keychains in the commands that create and change them.
enum KeychainPassword {
    /// Returns the new password: from `-p`, a passcode option, the terminal (twice), or standard
    /// input: one line, or two equal ones.
    static func new(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) -> SharedSecret {
        if let word = arguments["-p"] { return word.secret }
        let source = try PasscodeSource(arguments)
        if let named = try CommandFailure.mapErrors(nil, { () throws(KeychainError) in try source.namedByOption() }) {
            return named
        }
        let password = try read("password for new keychain: ", in: session)
        guard try repetition(in: session) ?? password == password else { throw .line("passwords don't match") }
        return password
    }

    /// Returns nil if standard input is a pipe that has ended: scripts write one line, programs that
    /// are written for macOS two.
    private static func repetition(in session: CommandSession) throws(CommandFailure) -> SharedSecret? {
        if session.io.isInputInteractive || session.readsCommands {
            return try read("retype password for new keychain: ", in: session)
        }
        return try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try session.io.readLine() }
    }

    static func old(in session: CommandSession) throws(CommandFailure) -> SharedSecret {
        try read("Old Password: ", in: session)
    }

    private static func read(_ prompt: StaticString, in session: CommandSession) throws(CommandFailure) -> SharedSecret
    {
        let source = PasscodeSource(file: nil, noun: "password", usesEnvironment: false)
        return try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try source.read(prompt, in: session) }
    }
}
