// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
public import KeychainSessions
internal import LatchkeyOperations
public import LatchkeyService
public import LinuxSystem
public import SecretMemory

/// Finds the keychain service that serves this process.
///
/// `LATCHKEY_EPHEMERAL=1` keeps everything in memory. Otherwise a daemon serves the process, if
/// there is one; if not, the service is embedded and uses the user's files. A keychain that belongs
/// to a daemon is never opened without it.
public enum KeychainClient {
    /// Returns the keychain of this process, opened on first use, as this process uses it. A
    /// failure is not cached: the next call tries again.
    public static func session() throws(KeychainError) -> KeychainSession {
        if let context = CallerContext.current {
            return KeychainSession(context.service, as: context.identity) { [place = context.place] in place }
        }
        if let names = KeychainScope.current { return try session(searching: names) }
        if let name = try selectedName() { return try session(named: name) }
        return KeychainSession(try processService.value.open(), as: caller)
    }

    /// Returns the result of ``session()``, if it is one keychain that this process has opened from files: then nothing
    /// is waited for. nil otherwise.
    public static func openedSession() -> KeychainSession? {
        guard CallerContext.current == nil, KeychainScope.current == nil, (try? selectedName() == nil) == true
        else { return nil }
        return processService.value.opened.map { KeychainSession($0, as: caller) }
    }

    /// Changes the setup of the keychains of this process: at the start of a program, or for the options of a command,
    /// before the first call.
    public static func configure(_ change: (inout ProgramSetup) -> Void) { program.withLock { change(&$0) } }

    /// The setup from ``configure(_:)``.
    static var setup: ProgramSetup { program.withLock { $0 } }

    private static let program = SystemMutex(ProgramSetup())

    /// The keychain that ``configure(_:)`` or `LATCHKEY_KEYCHAIN` has chosen; nil for the search list.
    ///
    /// - Throws: errSecInvalidKeychain if the variable is neither a name nor a path.
    public static func selectedName() throws(KeychainError) -> KeychainName? {
        if let chosen = program.withLock({ $0.keychain }) { return chosen }
        guard let text = environment("LATCHKEY_KEYCHAIN"), !text.isEmpty else { return nil }
        do throws(KeychainError) { return try KeychainFile(text).name } catch {
            throw KeychainError(.invalidKeychain, "LATCHKEY_KEYCHAIN is not the name or the path of a keychain")
        }
    }

    /// Returns one of the user's keychains, as this process uses it.
    ///
    /// - Throws: errSecNoSuchKeychain if it does not exist.
    public static func session(named name: KeychainName) throws(KeychainError) -> KeychainSession {
        if let context = CallerContext.current {
            guard name == .login else { throw UserKeychains.missing(name) }
            return KeychainSession(context.service, as: context.identity) { [place = context.place] in place }
        }
        return KeychainSession(try processService.value.open(name), as: caller)
    }

    /// Returns several keychains as one; new items go to the first of them.
    ///
    /// - Throws: errSecNoSuchKeychain if one does not exist.
    private static func session(searching names: [KeychainName]) throws(KeychainError) -> KeychainSession {
        guard let first = names.first, names.count > 1 else {
            guard let only = names.first else { throw .itemNotFound }
            return try session(named: only)
        }
        var members: [KeychainName: SearchedKeychains.Member] = [:]
        for name in names { members[name] = .success(try session(named: name).service) }
        if members[.login] == nil {
            members[.login] = Result { () throws(KeychainError) in try session(named: .login).service }
        }
        return KeychainSession(SearchedKeychains(members, search: names, defaultKeychain: first), as: caller)
    }

    /// Runs `body` while ``session()`` returns these keychains in place of those of the search list.
    package static func searching<Value>(
        _ names: [KeychainName], _ body: () throws(KeychainError) -> Value
    ) throws(KeychainError) -> Value {
        try KeychainScope.$current.withValue(names) { Result { () throws(KeychainError) in try body() } }.get()
    }

    /// Runs `body` while this process opens its own keychains for a report: for reading only, without a change of any
    /// file. For commands, before the first call.
    package static func inspecting<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try KeychainScope.$inspects.withValue(true) { Result { () throws(Failure) in try body() } }.get()
    }

    /// Returns the user's keychains, to list, create and delete them.
    public static func registry() throws(KeychainError) -> any KeychainRegistry {
        if CallerContext.current != nil {
            // A keychain that cannot be read says so when it is used.
            return SingleKeychain(at: (try? session().status())?.databasePath, of: "a test")
        }
        if environment("LATCHKEY_EPHEMERAL") == "1" {
            return SingleKeychain(at: nil, of: "a process with LATCHKEY_EPHEMERAL")
        }
        // Operations on the list are recorded in the log of the keychain that every user has.
        if let daemon = try ProcessService.discovery(of: .login).service() { return ServedRegistry(daemon, as: caller) }
        return try processService.value.keychains()
    }

    /// A number that grows when this process opens its keychains anew, because a daemon was started or has
    /// ended: the observers of those before are not called any more.
    public static var generation: UInt64 { processService.value.generation }

    /// Closes a keychain that was deleted.
    public static func forget(_ name: KeychainName) { processService.value.forget(name) }

    /// Whether the keychain is stored in files that this process opens itself.
    private static var isFileBased: Bool {
        guard CallerContext.current == nil, environment("LATCHKEY_EPHEMERAL") != "1" else { return false }
        // The error of a daemon that cannot be used is reported by the next request to it.
        return ((try? ProcessService.daemon()) ?? nil) == nil
    }

    /// Returns the home for the keychain that the first use would create; nil if the keychain exists, or is not in
    /// files of this process.
    ///
    /// - Throws: errSecNotAvailable if the keychain belongs to a daemon that does not answer: then
    ///   it is unknown whether it exists.
    public static func missingHome() throws(KeychainError) -> KeychainHome? {
        guard CallerContext.current == nil, environment("LATCHKEY_EPHEMERAL") != "1", try ProcessService.daemon() == nil
        else { return nil }
        let home = try home()
        // A link to nothing is there: a report names it, and no use creates a keychain in its place.
        guard !HomeOwnership.hasMarker(home), try usesLogin(home),
            faccessat(AT_FDCWD, home.databasePath, F_OK, AT_SYMLINK_NOFOLLOW) != 0, errno == ENOENT
        else { return nil }
        return home
    }

    /// Whether this process works on the keychain that every user has. The first use creates that keychain.
    private static func usesLogin(_ home: KeychainHome) throws(KeychainError) -> Bool {
        if let selected = try selectedName() { return selected == .login }
        return try UserKeychains(home).list().defaultKeychain == .login
    }

    /// Whether a keychain exists already, so that a request does not create one.
    static var hasKeychain: Bool {
        if CallerContext.current != nil || processService.value.isOpen { return true }
        guard environment("LATCHKEY_EPHEMERAL") != "1" else { return false }
        guard isFileBased else { return true }
        return (try? home()).map { access($0.databasePath, F_OK) == 0 || (try? usesLogin($0)) == false } ?? false
    }

    /// The identity of this process as the service sees it.
    public static var caller: CallerIdentity {
        if let identity = CallerContext.current?.identity { return identity }
        var identity = processService.value.identity
        identity.isUserCommand = program.withLock { $0.isUserCommand }
        return identity
    }

    /// Returns the passcode that the environment names: from the file in `LATCHKEY_PASSCODE_FILE`,
    /// or from systemd's credential; nil if there is neither.
    public static func passcodeOfEnvironment() throws(KeychainError) -> SharedSecret? {
        try PasscodeFile.ofEnvironment()
    }

    /// Opens the keychain of this process with its recovery key, and sets a new passcode.
    ///
    /// - Parameter newPasscode: nil only counts the items that would be lost.
    /// - Returns: the number of items that are lost, because their keys could not leave the device.
    public static func recover(with key: SharedSecret, newPasscode: SharedSecret?) throws(KeychainError) -> Int {
        guard environment("LATCHKEY_EPHEMERAL") != "1" else {
            throw .parameter("a keychain in memory cannot be recovered (LATCHKEY_EPHEMERAL is set)")
        }
        close()
        if let daemon = try ProcessService.daemon() {
            return try KeychainSession(daemon, as: caller).recover(with: key, newPasscode: newPasscode)
        }
        return try ClosedKeychain.recover(
            home: .resolve(environment), key: key, newPasscode: newPasscode, hardware: setup.hardware)
    }

    /// Checks the keychain of this process. If it cannot be opened, reports the reason, and the steps that lead back to
    /// its items.
    ///
    /// - Parameter progress: gets the number of rows that were checked.
    /// - Throws: if there is nothing to examine: a daemon that does not answer.
    public static func check(progress: @escaping @Sendable (Int) -> Void) throws(KeychainError) -> [KeychainFinding] {
        let opened: KeychainSession
        do throws(KeychainError) {
            opened = try session()
        } catch {
            let problem = error
            guard CallerContext.current == nil, environment("LATCHKEY_EPHEMERAL") != "1",
                try ProcessService.daemon() == nil, let home = try? home(), !HomeOwnership.hasMarker(home)
            else { throw problem }
            return ClosedKeychain.diagnose(problem, home: home, hardware: setup.hardware)
        }
        return try opened.check(progress: progress)
    }

    /// Seals the device key of this process's keychain to the present values of the PCRs, after they
    /// have changed.
    ///
    /// - Parameter code: the code of its move to the TPM.
    /// - Throws: errSecAuthFailed for another code.
    public static func resealRoot(with code: SharedSecret) throws(KeychainError) {
        guard environment("LATCHKEY_EPHEMERAL") != "1" else {
            throw .parameter("a keychain in memory has no device key in a TPM (LATCHKEY_EPHEMERAL is set)")
        }
        close()
        if let daemon = try ProcessService.daemon() {
            return try KeychainSession(daemon, as: caller).resealRoot(with: code)
        }
        try ClosedKeychain.reseal(
            home: .resolve(environment), code: code, hardware: setup.hardware)
    }

    /// Makes the daemon that serves this process's keychain serve a session to the processes that hold the
    /// other end of `control`.
    ///
    /// - Parameter passcode: nil if the keychain has no passcode.
    /// - Returns: an object that keeps the session open as long as it is referenced.
    /// - Throws: errSecNotAvailable if no daemon serves it.
    public static func openSession(
        passcode: SharedSecret?, control: Socket
    ) throws(KeychainError) -> any Sendable {
        guard let daemon = try ProcessService.discovery(of: try selectedName()).service() else { throw .notAvailable }
        return try daemon.openSession(passcode, control: control)
    }

    /// Removes the record that the system's daemon keeps this user's keychain, so that programs
    /// open the one in `home`.
    ///
    /// - Returns: false if there was no such record.
    /// - Throws: errSecNotAvailable if the system's daemon is running or required.
    public static func forgetSystemDaemon(_ home: KeychainHome) throws(KeychainError) -> Bool {
        guard try !ClientConfiguration.load().requiresSystemDaemon else {
            throw KeychainError(
                .notAvailable, "the system's latchkeyd is required by \(ClientConfiguration.path)",
                hint: "change that file first")
        }
        guard !ProcessService.discovery(of: nil).hasSystemDaemon else {
            throw KeychainError(
                .notAvailable, "the system's latchkeyd is running, and programs use it",
                hint: "sudo systemctl disable --now latchkeyd.socket"
            )
        }
        return try SystemDaemonMarker.remove(from: home)
    }

    /// Returns the home of the keychain that this process opens itself.
    public static func home() throws(KeychainError) -> KeychainHome { try .resolve(environment) }

    /// Closes the keychain; for commands, before they exit. A later call opens it again.
    public static func close() {
        processService.value.close()
    }

    /// A forked child gets a new one, so that it never uses its parent's database connections and
    /// keys.
    private static let processService = ForkLocal { ProcessService() }
}

private func environment(_ name: String) -> String? { SecureEnvironment.value(of: name) }
