// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// The passphrase of a key file, from the command line or from a file.
enum KeyFilePassphrase {
    static func read(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) -> SharedSecret? {
        if let path = arguments["--passphrase-file"] { return try read(file: path.path, in: session) }
        return arguments["-P"]?.secret
    }

    /// Returns the first line of the file.
    static func read(file: FilePath, in session: CommandSession) throws(CommandFailure) -> SharedSecret {
        let source = PasscodeSource(
            file: file, fileOption: "--passphrase-file", noun: "passphrase", usesEnvironment: false)
        return try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try source.read("passphrase: ", in: session)
        }
    }
}
