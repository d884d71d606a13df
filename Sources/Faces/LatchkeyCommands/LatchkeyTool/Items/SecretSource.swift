// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import SecretMemory

/// The source of a secret to store: a file, a pipe, or two equal answers at the terminal. Never an
/// argument, which every process that lists processes could read.
enum SecretSource {
    /// Reads the secret; on a terminal, prompts for it twice.
    ///
    /// - Parameters:
    ///   - file: the file to read; nil and `-` are standard input.
    ///   - raw: whether the final line end of a file or a pipe belongs to the secret.
    /// - Throws: errSecParam for an empty file or pipe, and for two different answers.
    static func read(file: String?, raw: Bool, in session: CommandSession) throws(CommandFailure) -> SharedSecret {
        guard let file, file != "-" else { return try readInput(raw: raw, in: session) }
        let secret = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try SecretInput.read(file, maxCount: SecretInput.maxSecretCount)
        }
        guard secret.count > 0 else { throw .parameter("\(file) is empty; a secret was expected") }
        return raw ? secret : SecretInput.withoutFinalLineEnd(secret)
    }

    private static func readInput(raw: Bool, in session: CommandSession) throws(CommandFailure) -> SharedSecret {
        if session.io.isInputInteractive || session.readsCommands {
            // In interactive mode without a terminal, the next line is the secret.
            return try PasscodeSource(fileOption: "--secret-file", noun: "secret", usesEnvironment: false)
                .readNew("secret: ", in: session)
        }
        let input = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try session.io.readInput(maxCount: SecretInput.maxSecretCount)
        }
        guard let input else {
            throw .parameter(
                "standard input is empty; a secret was expected",
                hint: "printf %s \"$SECRET\" | latchkey set SERVICE/ACCOUNT")
        }
        return raw ? input : SecretInput.withoutFinalLineEnd(input)
    }
}
