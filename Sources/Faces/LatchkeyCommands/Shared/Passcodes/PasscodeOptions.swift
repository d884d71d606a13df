// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
package import KeychainSessions
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem
package import SecretMemory

/// The options that name the source of the passcode, for Latchkey's own commands.
package struct PasscodeOptions: ParsableArguments {
    @Option(help: ArgumentHelp(fileHelp, valueName: "file"), completion: .file())
    var passcodeFile: FilePath?

    @Option(help: ArgumentHelp(descriptorHelp, valueName: "number"))
    var passcodeFd: Int32?

    package init() {}

    package func validate() throws {
        if passcodeFile != nil, passcodeFd != nil {
            throw ValidationError(Self.exclusion)
        }
    }

    var source: PasscodeSource { PasscodeSource(file: passcodeFile, descriptor: passcodeFd) }

    fileprivate static let exclusion = "--passcode-file and --passcode-fd exclude each other"
}

extension PasscodeOptions {
    /// The same options for daily commands.
    static let options = [
        CommandOption("--passcode-file", .required("file"), help: fileHelp),
        CommandOption("--passcode-fd", .required("number"), help: descriptorHelp),
    ]

    private static let fileHelp =
        "Take the passcode from the first line of this file that only you can read (mode 0600)."
    private static let descriptorHelp = "Take the passcode from this file descriptor, as in: --passcode-fd 3 3< FILE."

    /// Lets this process unlock the keychain when it needs a locked item.
    package func unlockOnDemand(in session: CommandSession) { source.unlockOnDemand(in: session) }
}

extension CommandOption {
    /// The same options for macOS's commands.
    static let passcode = [
        CommandOption(
            "--passcode-file", .required("file"),
            help: "unlock with the passcode in this file of mode 0600 (Latchkey's addition)"),
        CommandOption(
            "--passcode-fd", .required("number"),
            help: "unlock with the passcode from this descriptor (Latchkey's addition)"),
    ]
}

extension PasscodeSource {
    /// Reads the passcode options of one of macOS's commands.
    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        file = arguments["--passcode-file"]?.path
        if let word = arguments["--passcode-fd"] {
            guard let number = Int32(word.text), number >= 0 else {
                throw .parameter(
                    "the value of --passcode-fd must be the number of an open descriptor, but is '\(word.text)'")
            }
            descriptor = number
        }
        try requireOne()
    }

    /// Reads the passcode options of a daily command.
    init(daily arguments: ParsedArguments) throws(CommandFailure) {
        file = arguments["--passcode-file"]?.path
        descriptor = try arguments.number("--passcode-fd", 0...Int32.max)
        try requireOne()
    }

    private func requireOne() throws(CommandFailure) {
        if file != nil, descriptor != nil { throw .usage(PasscodeOptions.exclusion) }
    }

    /// Lets this process unlock itself when it needs a locked item, with the passcode that is named
    /// or with one that is prompted for on the terminal.
    func unlockOnDemand(in session: CommandSession) {
        // Prompts only on the terminal of the process itself.
        let terminal = session.io.isInputInteractive && session.io.isErrorInteractive ? session.io as? ProcessIO : nil
        let passcode = { @Sendable () throws(KeychainError) -> SharedSecret? in
            if let named = try self.named() { return named }
            return try terminal?.readSecret(prompt: Self.prompt)
        }
        KeychainClient.configure { $0.passcode = passcode }
    }
}

extension PasscodeOptions {
    /// Returns the keychain's passcode; nil if it has none.
    package func required(by keychain: KeychainSession, in session: CommandSession) throws(CommandFailure)
        -> SharedSecret?
    {
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try keychain.lockStatus().hasPasscode ? try source.read(in: session) : nil
        }
    }
}
