// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import FileProtection
internal import Glibc
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem

/// The options of commands that convert files.
struct FileBatchOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The files and directories.", valueName: "file"), completion: .file())
    var paths: [FilePath] = []

    @Flag(name: .shortAndLong, help: "Include everything below directories.")
    var recursive = false

    @Flag(name: [.customShort("n"), .long], help: "Check everything, and change nothing.")
    var dryRun = false

    @Flag(help: "Print a summary as JSON.")
    var json = false

    @OptionGroup var keyOptions: FileKeyOptions

    func validate() throws {
        guard !paths.isEmpty else { throw ValidationError("no file is given") }
    }

    func tree() throws(CommandFailure) -> FileTree {
        FileTree(
            paths, isRecursive: recursive, ownFiles: dryRun ? .skipped : .skippedWithoutDrafts,
            excluding: try Self.keychainDirectories())
    }

    /// Returns the directories of the keychain. The keychain's own files would be lost if they were protected.
    static func keychainDirectories() throws(CommandFailure) -> Set<FileStatus.Identity> {
        let status = try? KeychainClient.session().status()
        var paths = [status?.databasePath, status?.deviceKeyPath].compactMap { $0.flatMap(ParentDirectory.of) }
        if let home = try? KeychainClient.home() { paths += [home.dataDirectory, home.stateDirectory] }
        var directories: Set<FileStatus.Identity> = []
        for path in paths {
            let found = try CommandFailure.mapSystemErrors { () throws(SystemError) in
                do throws(SystemError) { return try FileStatus.of(path) } catch {
                    // The system's daemon keeps a keychain where this user sees no file, and changes none.
                    guard error.code == EACCES else { throw error }
                    return nil
                }
            }
            if let identity = found?.identity { directories.insert(identity) }
        }
        return directories
    }

    func batch(_ session: CommandSession, _ verbs: [FileConversion.Outcome: String]) -> FileBatch {
        FileBatch(session: session, dryRun: dryRun, isJSON: json, verbs: verbs)
    }

    func keys(in session: CommandSession) throws(CommandFailure) -> SessionFileKeys {
        try keyOptions.keys(in: session)
    }
}

/// How a command gets the keys of files.
struct FileKeyOptions: ParsableArguments {
    @Flag(help: "Leave the keys of files, and the encryption, in latchkeyd; much slower.")
    var viaDaemon = false

    @OptionGroup var passcode: PasscodeOptions

    /// Returns the keys of files, from the keychain of this process.
    func keys(in session: CommandSession) throws(CommandFailure) -> SessionFileKeys {
        try passcode.fileKeys(in: session, withholdsKeys: viaDaemon)
    }
}

extension PasscodeOptions {
    /// Returns the keys of files, from the keychain of this process.
    func fileKeys(
        in session: CommandSession, withholdsKeys: Bool = false
    ) throws(CommandFailure) -> SessionFileKeys {
        unlockOnDemand(in: session)
        // Opened here: several threads use it.
        let keychain = try session.keychain()
        return SessionFileKeys(withholdsKeys: withholdsKeys) { keychain }
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
