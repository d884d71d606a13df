// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
public import LatchkeyService
public import LinuxSystem
public import SecretMemory
internal import Synchronization

/// Finds the keychain service that serves this process.
///
/// `LATCHKEY_EPHEMERAL=1` keeps everything in memory; otherwise a daemon serves the process if there is one, and if there is none the service
/// is embedded, on the user's files. A keychain that belongs to a daemon is never opened without it.
public enum KeychainClient {
    /// The service of this process, opened on first use. A failure is not remembered: the next call tries again.
    public static func service() throws(KeychainError) -> any KeychainService {
        if let service = CallerContext.current?.service { return service }
        return try processService.value.open()
    }

    /// Whether the keychain lies in files that this process opens itself.
    private static var isFileBased: Bool {
        guard CallerContext.current == nil, environment("LATCHKEY_EPHEMERAL") != "1" else { return false }
        // A daemon that is there but does not do is met again by whoever asks it for something.
        return ((try? ProcessService.daemon()) ?? nil) == nil
    }

    /// Where the first use of a keychain in files would make it; nil where there is one, or where it is served from elsewhere.
    ///
    /// - Throws: errSecNotAvailable where the keychain belongs to a daemon that does not answer: then nobody knows whether there is one.
    public static func missingHome() throws(KeychainError) -> KeychainHome? {
        guard CallerContext.current == nil, environment("LATCHKEY_EPHEMERAL") != "1", try ProcessService.daemon() == nil
        else { return nil }
        let home = try home()
        guard !HomeOwnership.hasMarker(home), access(home.databasePath, F_OK) != 0, errno == ENOENT else { return nil }
        return home
    }

    /// Whether there is a keychain already, so that asking it makes none.
    static var hasKeychain: Bool {
        if CallerContext.current != nil || processService.value.isOpen { return true }
        guard environment("LATCHKEY_EPHEMERAL") != "1" else { return false }
        guard isFileBased else { return true }
        return (try? home()).map { access($0.databasePath, F_OK) == 0 } ?? false
    }

    /// Who this process is to the service.
    public static var caller: CallerIdentity {
        if let identity = CallerContext.current?.identity { return identity }
        var identity = processService.value.identity
        identity.isUserCommand = isUserCommand.load(ordering: .relaxed)
        return identity
    }

    /// Makes this process the user's own command, which sees all of the user's claimed groups. For `latchkey` alone.
    ///
    /// It is no privilege: in process every group is a claim, and any program of the user could claim as much.
    public static func actAsUserCommand() {
        isUserCommand.store(true, ordering: .relaxed)
    }

    private static let isUserCommand = Atomic(false)

    /// Takes the passcode from `source`, and no longer from the environment, when something is closed. For commands, before the first call.
    public static func takePasscode(from source: @escaping AutomaticUnlock.Source) {
        passcodeSource.withLock { $0 = source }
    }

    /// The passcode that the environment names: the file in `LATCHKEY_PASSCODE_FILE`, or systemd's credential; nil for neither.
    public static func passcodeOfEnvironment() throws(KeychainError) -> SharedSecret? {
        try PasscodeFile.ofEnvironment(environment)
    }

    /// Opens the keychain that serves this process by its recovery key, which sets a new passcode.
    ///
    /// - Parameter newPasscode: nil only counts what would be lost.
    /// - Returns: how many items are lost with keys that could not leave the device.
    public static func recover(with key: SharedSecret, newPasscode: SharedSecret?) throws(KeychainError) -> Int {
        guard environment("LATCHKEY_EPHEMERAL") != "1" else {
            throw .parameter("a keychain in memory has nothing to recover (LATCHKEY_EPHEMERAL is set)")
        }
        close()
        if let daemon = try ProcessService.daemon() { return try daemon.recover(with: key, newPasscode: newPasscode) }
        return try EmbeddedService.recover(home: .resolve(environment), key: key, newPasscode: newPasscode)
    }

    /// Has the daemon behind `keychain` serve a session to whoever holds the other end of `control`.
    ///
    /// - Parameter passcode: nil where the keychain has none.
    /// - Returns: what the session lasts as long as; nil where this process itself holds the keychain.
    public static func openSession(
        of keychain: any KeychainService, passcode: SharedSecret?, control: Socket
    ) throws(KeychainError) -> (any Sendable)? {
        try (keychain as? DaemonService)?.openSession(passcode, control: control)
    }

    /// Forgets that the system's daemon keeps this user's keychain, so that programs open the one in `home`.
    ///
    /// - Returns: false where that was not noted.
    /// - Throws: errSecNotAvailable where the system's daemon is there, or is required.
    public static func forgetSystemDaemon(_ home: KeychainHome) throws(KeychainError) -> Bool {
        guard try !ClientConfiguration.load().requiresSystemDaemon else {
            throw KeychainError(
                .notAvailable, "\(ClientConfiguration.path) says that the system's latchkeyd is required",
                hint: "change that file first")
        }
        guard !ProcessService.discovery.hasSystemDaemon else {
            throw KeychainError(
                .notAvailable, "the system's latchkeyd is there, and programs use it",
                hint: "sudo systemctl disable --now latchkeyd.socket"
            )
        }
        return try SystemDaemonMarker.remove(from: home)
    }

    /// Where the keychain of this process's own files lies.
    public static func home() throws(KeychainError) -> KeychainHome { try .resolve(environment) }

    fileprivate static let passcodeSource = Mutex<AutomaticUnlock.Source?>(nil)

    /// Ends the use of the keychain in good order; for commands, before they exit. A later call opens it anew.
    public static func close() {
        processService.value.close()
    }

    /// A forked child finds a new one, so that it never touches its parent's database connections and keys.
    private static let processService = ForkLocal { ProcessService() }
}

/// The service and the identity of one process.
private final class ProcessService: Sendable {
    private let service = Mutex<(any KeychainService)?>(nil)
    let identity = ProgramIdentity.ofThisProcess()

    func open() throws(KeychainError) -> any KeychainService {
        let outcome: Result<any KeychainService, KeychainError> = service.withLock { opened in
            // Whoever uses the former service meanwhile keeps it until he is done.
            if (opened as? EmbeddedService)?.isOwnedByDaemon == true { opened = nil }
            if let opened { return .success(opened) }
            do throws(KeychainError) {
                let fresh = try Self.make()
                opened = fresh
                return .success(fresh)
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    var isOpen: Bool { service.withLock { $0 != nil } }

    func close() {
        let opened = service.withLock { opened in
            defer { opened = nil }
            return opened
        }
        opened?.close()
    }

    private static func make() throws(KeychainError) -> any KeychainService {
        if environment("LATCHKEY_EPHEMERAL") == "1" { return try EmbeddedService(inMemory: .system) }
        if let service = try daemon() { return service }
        return try EmbeddedService(home: .resolve(environment), automaticPasscode: passcode)
    }

    fileprivate static var discovery: DaemonDiscovery {
        DaemonDiscovery(environment: environment, claim: { KeychainClient.caller }, automaticPasscode: passcode)
    }

    /// The daemon that serves this process; nil where there is none.
    static func daemon() throws(KeychainError) -> DaemonService? {
        try discovery.service()
    }

    private static let passcode: AutomaticUnlock.Source = { () throws(KeychainError) in
        if let source = KeychainClient.passcodeSource.withLock({ $0 }) { return try source() }
        return try KeychainClient.passcodeOfEnvironment()
    }
}

private func environment(_ name: String) -> String? { SecureEnvironment.value(of: name) }
