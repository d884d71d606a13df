// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import FileProtection
internal import Glibc
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import LinuxSystem
internal import ProtectedFolder

/// `latchkey mount`.
struct MountCommand: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.mount.rawValue, abstract: LatchkeySubcommand.mount.abstract,
        discussion: """
            The files in STORE and their names are encrypted. Programs see them as plain files at MOUNTPOINT, or in \
            STORE itself. While the class is closed, they get EACCES, also through files of the class complete that \
            they have open. With latchkeyd, the lock of the keychain decides; without it, this process has its own, \
            and is unlocked until it ends. --unmount returns when everything is stored, and fails if changes are lost.

            A new store gets the class of --class, or of the nearest .latchkey-protect. Directories that do not exist \
            are created with mode 0700, if their parent exists, and stay after --unmount. After the end of this \
            process by kill -9, the next one detaches the stale mount.

            EXAMPLES:
              latchkey mount --class complete ~/Secrets
              latchkey mount ~/.secrets.store ~/Secrets
              latchkey mount --unmount ~/Secrets
            """)

    @Argument(help: "The directory of the encrypted files.", completion: .directory)
    var store: FilePath

    @Argument(
        help: ArgumentHelp("Where they are shown; without it, in STORE itself.", valueName: "mountpoint"),
        completion: .directory)
    var mountPoint: FilePath?

    @Option(
        name: .customLong("class"),
        help: ArgumentHelp("The class of a new store: complete, unless-open, first-unlock or none.", valueName: "class")
    )
    var className: String?

    @Option(help: ArgumentHelp("The access group of new files.", valueName: "group"))
    var accessGroup: String?

    @Flag(help: "Leave the keys of files, and the encryption, in latchkeyd; much slower.")
    var viaDaemon = false

    @Flag(help: "Refuse changes.")
    var readOnly = false

    @Flag(
        help: ArgumentHelp(
            "Let programs of other users in.",
            discussion: """
                They read the files as plain ones, as far as owner, group and permissions allow it, while the class \
                is open; without it, only the user who mounts does, and not even root. For a user, /etc/fuse.conf \
                must have the line user_allow_other.
                """))
    var allowOther = false

    @Flag(name: .shortAndLong, help: "Stay in the foreground, with messages on standard error.")
    var foreground = false

    @Flag(help: "Unmount STORE as a mount point.")
    var unmount = false

    @Option(help: .hidden)
    var readyDescriptor: Int32?

    @OptionGroup var passcode: PasscodeOptions

    func validate() throws {
        guard className.map({ FileProtectionClass(name: $0) != nil }) != false else {
            throw ValidationError("the class must be complete, unless-open, first-unlock or none")
        }
    }

    func run(in session: CommandSession) throws(CommandFailure) {
        let point = mountPoint ?? store
        if unmount { return try end(store) }
        guard foreground || readyDescriptor != nil else { return try MountedProcess.start(session) }
        passcode.unlockOnDemand(in: session)
        let keychain = try session.keychain()
        let keys = SessionFileKeys(withholdsKeys: viaDaemon) { keychain }
        var isServed = false
        var created: [FilePath] = []
        defer { if !isServed { for path in created.reversed() { _ = path.withCString { rmdir($0) } } } }
        let folder = try Self.mapErrors(store) { () throws(FileProtectionError) in
            try mapSystemErrors { () throws(SystemError) in
                _ = try MountedFolder.recover(point)
                for path in directories where try Self.createDirectory(path) { created.append(path) }
                guard try !FileSystem(holding: store).isUserspace else {
                    throw SystemError("mount", path: store, code: EBUSY, hint: "it is mounted already")
                }
                guard try !MountedFolder.isMounted(point) else {
                    throw SystemError("mount", path: point, code: EBUSY, hint: "something is mounted there already")
                }
            }
            let choice = try choice()
            let output = ReportedProblems(isQuiet: readyDescriptor != nil)
            return try MountedFolder(
                of: store, at: point, choice?.protection, group: accessGroup ?? choice?.group, keys: keys,
                isReadOnly: readOnly, allowsOthers: allowOther
            ) { output.say("\($0)") }
        }
        defer { if !isServed { folder.detach() } }
        guard TerminationSignals.handle({ folder.unmount() }) else {
            throw .status(KeychainError(.notAvailable, "no thread could be started"))
        }
        let observation = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try keys.observeLock { state in
                folder.lockStateChanged(isOpen: Self.isOpen(folder.protection, state))
            }
        }
        defer { withExtendedLifetime(observation) {} }
        let record = try Self.record(of: point, session)
        isServed = true
        if let readyDescriptor { BackgroundProcess.isReady(readyDescriptor) }
        var problem: SystemError?
        let lost = folder.run { do throws(SystemError) { try record?.begin() } catch { problem = error } }
        do throws(SystemError) { try record?.end(lost: lost) } catch { problem = error }
        // Without the last line of the record, the command that unmounts fails.
        if let problem { throw .status(KeychainError(problem)) }
        guard lost.isEmpty else { throw .status(Self.lostChanges(lost)) }
    }

    /// The directories that are created if they do not exist. A store that may not be changed is none of them.
    private var directories: [FilePath] { (readOnly ? [] : [store]) + (mountPoint.map { [$0] } ?? []) }

    /// Creates a directory of mode 0700, unless there is a directory.
    ///
    /// - Returns: whether it was created.
    private static func createDirectory(_ path: FilePath) throws(SystemError) -> Bool {
        if let found = try FileStatus.of(path) {
            guard found.kind == .directory else {
                throw SystemError("mount", path: path, code: ENOTDIR, hint: "name a directory, or a new path")
            }
            return false
        }
        guard path.withCString({ mkdir($0, 0o700) }) == 0 else {
            let code = errno
            let hint: String? =
                switch code {
                case ENOENT: path.parent.map { "its parent does not exist: mkdir -p \($0.description.shellQuoted)" }
                case EEXIST: "it is a symbolic link to a missing target"
                default: nil
                }
            throw SystemError("create the directory", path: path, code: code, hint: hint)
        }
        return true
    }

    /// Creates the record of the folder; nil if there is no space for it. A folder can be used without one.
    private static func record(
        of point: FilePath, _ session: CommandSession
    ) throws(CommandFailure) -> MountRecord? {
        do throws(SystemError) { return try MountRecord(creatingFor: point) } catch {
            guard [EROFS, ENOSPC, EDQUOT].contains(error.code) else { throw .status(KeychainError(error)) }
            session.io.say("latchkey: --unmount will not wait until everything is stored: \(error.description)\n")
            return nil
        }
    }

    private func choice() throws(FileProtectionError) -> ProtectionPolicy? {
        if let className, let protection = FileProtectionClass(name: className) {
            return ProtectionPolicy(protection, group: accessGroup)
        }
        let isStore = try mapSystemErrors { () throws(SystemError) in
            try FileStatus.ofLink("\(store)/.latchkey-folder") != nil
        }
        guard !isStore else { return nil }
        let policy = try ProtectionPolicy.nearest(to: store)
        return policy ?? ProtectionPolicy(.complete, group: accessGroup)
    }

    /// Unmounts, and waits until everything is stored.
    private func end(_ point: FilePath) throws(CommandFailure) {
        let lost = try Self.mapErrors(point) { () throws(FileProtectionError) in
            try mapSystemErrors { () throws(SystemError) -> [String] in
                guard try !MountedFolder.recover(point) else { return [] }
                // Without a mounted folder there is no record; the error of unmount(_:) then names the problem.
                let record = try MountedFolder.isMounted(point) ? try MountRecord(of: point) : nil
                try MountedFolder.unmount(point)
                return try record?.lostChanges() ?? []
            }
        }
        guard lost.isEmpty else { throw .status(Self.lostChanges(lost)) }
    }

    private static func lostChanges(_ stored: [String]) -> KeychainError {
        KeychainError(
            .io,
            "the folder is unmounted, but changes are lost that could not be stored: \(stored.joined(separator: ", "))",
            hint: "unlock the keychain before a folder is unmounted")
    }

    /// The lock closes class A at once, without its grace period: programs that have files open do not
    /// ask the keychain.
    private static func isOpen(_ protection: FileProtectionClass, _ state: LockState) -> Bool {
        switch protection {
        case .complete, .completeUnlessOpen: state == .unlocked
        case .completeUntilFirstUserAuthentication: state != .beforeFirstUnlock
        case .none: true
        }
    }

    private static func mapErrors<Value>(
        _ path: FilePath, _ body: () throws(FileProtectionError) -> Value
    ) throws(CommandFailure) -> Value {
        do throws(FileProtectionError) { return try body() } catch {
            throw .status(KeychainError(error, path: path.description))
        }
    }
}

/// Problems of a mounted folder, for the person who has mounted it in the foreground.
private struct ReportedProblems: Sendable {
    let isQuiet: Bool

    func say(_ text: TerminalText) {
        guard !isQuiet else { return }
        ProcessIO().say("latchkey: \(text)\n")
    }
}
