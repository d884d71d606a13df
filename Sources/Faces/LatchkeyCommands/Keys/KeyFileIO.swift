// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyClient
internal import SecretMemory

/// Files and pipes of the key commands. What is read lies in secret memory only.
enum KeyFileIO {
    /// Everything in a file; `-` is standard input.
    static func read(_ path: String) throws(CommandFailure) -> SharedSecret {
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try SecretInput.read(path, maxCount: maxLength)
        }
    }

    /// Writes a file of mode 0600, or standard output where there is no path. A file that is there is replaced only if that is wanted.
    ///
    /// - Parameter hint: what to do where there is one and it may not be replaced.
    static func write(
        _ secret: SharedSecret, to path: String?, replaces: Bool, advice: String = "remove it, or name another file",
        in session: CommandSession
    ) throws(CommandFailure) {
        guard let path, path != "-" else { return try session.writeSecret(secret.copy(), to: .output) }
        try hinting(advice) { () throws(KeychainError) in
            try BackupFile.write(path, replaces: replaces) { (sink) throws(KeychainError) in
                try secret.withUnsafeBytes { (bytes) throws(KeychainError) in try sink(bytes) }
            }
        }
    }

    /// Adds a hint to the error of a file that exists.
    static func hinting<Result>(
        _ hint: String, _ body: () throws(KeychainError) -> Result
    ) throws(CommandFailure) -> Result {
        do {
            return try body()
        } catch {
            throw .status(
                error.status == .duplicateItem ? KeychainError(error.status, error.problem, hint: hint) : error)
        }
    }

    /// What is larger is signed by its digest, or encrypted by a key of its own.
    private static let maxLength = 1 << 30
}
