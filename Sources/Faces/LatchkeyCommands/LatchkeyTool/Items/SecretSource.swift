// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// The source of a secret to store: a file, a pipe, or two equal answers at the terminal. Never an argument, because
/// every process that lists processes could read it.
enum SecretSource {
    /// Reads the secret; on a terminal, prompts for it twice.
    ///
    /// - Parameters:
    ///   - file: the file to read; nil and `-` are standard input.
    ///   - raw: whether the final line end of a file or a pipe belongs to the secret.
    /// - Throws: errSecParam if the secret is empty, and for two different answers.
    static func read(file: FilePath?, raw: Bool, in session: CommandSession) throws(CommandFailure) -> SharedSecret {
        let secret: SharedSecret
        if let file, file != "-" {
            secret = lineEndRemoved(
                try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
                    try SecretInput.read(file, maxCount: SecretInput.maxSecretCount)
                }, unless: raw)
        } else if session.io.isInputInteractive || session.readsCommands {
            // In interactive mode without a terminal, the next line is the secret.
            secret = try PasscodeSource(fileOption: "--secret-file", noun: "secret", usesEnvironment: false)
                .readNew("secret: ", in: session)
        } else {
            let input = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
                try session.io.readInput(maxCount: SecretInput.maxSecretCount)
            }
            secret = lineEndRemoved(input ?? SharedSecret(copying: []), unless: raw)
        }
        // After the line end is removed: `echo "$UNSET"` prints only that.
        guard secret.count > 0 else {
            throw .parameter(
                "the secret is empty; nothing was stored", hint: "printf %s \"$SECRET\" | latchkey set SERVICE/ACCOUNT")
        }
        return secret
    }

    private static func lineEndRemoved(_ secret: SharedSecret, unless raw: Bool) -> SharedSecret {
        raw ? secret : SecretInput.withoutFinalLineEnd(secret)
    }
}
