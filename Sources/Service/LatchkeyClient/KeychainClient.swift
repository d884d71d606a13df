// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
public import LatchkeyService
internal import LinuxSystem
internal import Synchronization

/// Finds the keychain service that serves this process.
///
/// `LATCHKEY_EPHEMERAL=1` keeps everything in memory; otherwise the service is embedded, on the user's files.
public enum KeychainClient {
    /// The service of this process, opened on first use. A failure is not remembered: the next call tries again.
    public static func service() throws(KeychainError) -> any KeychainService {
        if let service = CallerContext.current?.service { return service }
        return try processService.value.open()
    }

    /// Whether the keychain lies in files that this process opens itself.
    public static var isOnFiles: Bool {
        CallerContext.current == nil && environment("LATCHKEY_EPHEMERAL") != "1"
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

    func close() {
        let opened = service.withLock { opened in
            defer { opened = nil }
            return opened
        }
        opened?.close()
    }

    private static func make() throws(KeychainError) -> any KeychainService {
        if environment("LATCHKEY_EPHEMERAL") == "1" { return try EmbeddedService(ephemeralWithClock: Clock.now) }
        return try EmbeddedService(home: .resolve(environment))
    }
}

private func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
}
