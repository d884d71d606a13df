// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import LinuxSystem

/// The options that name the source of a backup's passphrase.
struct PassphraseOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Take the backup's passphrase from the first line of this file (mode 0600).", valueName: "file"),
        completion: .file())
    var passphraseFile: FilePath?

    @Option(help: ArgumentHelp("Take the backup's passphrase from this file descriptor.", valueName: "number"))
    var passphraseFd: Int32?

    func validate() throws {
        if passphraseFile != nil, passphraseFd != nil {
            throw ValidationError("--passphrase-file and --passphrase-fd exclude each other")
        }
    }

    var source: PasscodeSource {
        PasscodeSource(
            file: passphraseFile, descriptor: passphraseFd, fileOption: "--passphrase-file", noun: "passphrase",
            usesEnvironment: false)
    }
}
