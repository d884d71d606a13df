// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyClient
internal import LinuxSystem
internal import SecretMemory

/// Reads and writes the files of the key commands. The input is kept in secret memory only.
enum KeyFileIO {
    /// Reads a whole file; `-` is standard input.
    static func read(_ path: FilePath) throws(CommandFailure) -> SharedSecret {
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try SecretInput.read(path, maxCount: maxLength)
        }
    }

    /// Writes a file of mode 0600, or standard output if there is no path. An existing file is
    /// replaced only if `replaces` is true.
    ///
    /// - Parameter advice: the hint if the file exists and may not be replaced.
    static func write(
        _ secret: SharedSecret, to path: FilePath?, replaces: Bool, advice: String = "remove it, or name another file",
        in session: CommandSession
    ) throws(CommandFailure) {
        guard let path, path != "-" else { return try session.writeSecret(secret.copy(), to: .output) }
        try hinting(advice) { () throws(KeychainError) in
            try BackupFile.write(path, replaces: replaces) { (sink) throws(KeychainError) in
                try secret.withUnsafeBytes { (bytes) throws(KeychainError) in try sink(bytes) }
            }
        }
    }

    /// Runs `body`, and adds a hint to the error for a file that exists.
    static func hinting<Result>(
        _ hint: String, _ body: () throws(KeychainError) -> Result
    ) throws(CommandFailure) -> Result {
        try withErrors(
            as: { error in
                CommandFailure.status(
                    error.status == .duplicateItem ? KeychainError(error.status, error.problem, hint: hint) : error)
            }, body)
    }

    /// Larger input is signed by its digest, or encrypted with a separate key.
    private static let maxLength = 1 << 30
}
