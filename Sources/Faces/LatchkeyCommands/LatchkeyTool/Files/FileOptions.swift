// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import FileProtection
internal import KeychainModel
internal import LatchkeyClient

/// The options of commands that convert files.
struct FileBatchOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The files and directories.", valueName: "file"))
    var paths: [String] = []

    @Flag(name: .shortAndLong, help: "Include everything below directories.")
    var recursive = false

    @Flag(name: [.customShort("n"), .long], help: "Check everything, and change nothing.")
    var dryRun = false

    @Flag(help: "Print a summary as JSON.")
    var json = false

    @OptionGroup var passcode: PasscodeOptions

    func validate() throws {
        guard !paths.isEmpty else { throw ValidationError("no file is given") }
    }

    func tree() -> FileTree { FileTree(paths, isRecursive: recursive, removesDrafts: !dryRun) }

    func batch(_ session: CommandSession, _ verbs: [FileConversion.Outcome: String]) -> FileBatch {
        FileBatch(session: session, dryRun: dryRun, isJSON: json, verbs: verbs)
    }

    func keys(in session: CommandSession) throws(CommandFailure) -> SessionFileKeys {
        try passcode.fileKeys(in: session)
    }
}

extension PasscodeOptions {
    /// Returns the keys of files, from the keychain of this process.
    func fileKeys(in session: CommandSession) throws(CommandFailure) -> SessionFileKeys {
        unlockOnDemand(in: session)
        // Opened here: several threads use it.
        let keychain = try session.keychain()
        return SessionFileKeys { keychain }
    }
}

/// The short name of a class, as an argument.
struct FileClassArgument: ExpressibleByArgument {
    let protection: FileProtectionClass

    init?(argument: String) {
        guard let protection = FileProtectionClass(name: argument) else { return nil }
        self.protection = protection
    }

    static var allValueStrings: [String] { FileProtectionClass.allCases.map(\.name) }
}
