// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LinuxSystem
package import SecretMemory

/// The options that name the source of the password of a keyring of another program.
package struct KeyringPasswordOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Take the password of the keyring from the first line of this file (mode 0600).", valueName: "file"),
        completion: .file())
    var passwordFile: FilePath?

    @Option(help: ArgumentHelp("Take the password of the keyring from this file descriptor.", valueName: "number"))
    var passwordFd: Int32?

    package init() {}

    package func validate() throws {
        if passwordFile != nil, passwordFd != nil {
            throw ValidationError("--password-file and --password-fd exclude each other")
        }
    }

    /// Whether one of the options is given.
    package var isGiven: Bool { passwordFile != nil || passwordFd != nil }

    /// Returns the password, and prompts for it if no option is given.
    package func read(in session: CommandSession) throws(CommandFailure) -> SharedSecret {
        let source = PasscodeSource(
            file: passwordFile, descriptor: passwordFd, fileOption: "--password-file", noun: "password",
            usesEnvironment: false)
        return try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try source.read("password of the keyring: ", in: session)
        }
    }
}
