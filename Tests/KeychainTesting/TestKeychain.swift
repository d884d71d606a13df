// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainModel
@_spi(Testing) import LatchkeyClient
package import LatchkeyOperations
public import LatchkeyServer
@_spi(Testing) public import LatchkeyService
import LinuxSystem
import Presence
import Synchronization

/// A backend. The same tests run on all backends.
public enum Backend: String, CaseIterable, Sendable {
    case onDisk = "on disk"
    case ephemeral = "ephemeral"
    case daemon = "through the daemon"
    case systemDaemon = "through the system's daemon"

    /// The backends of most tests. The system daemon differs in its handling of callers.
    public static let allCases: [Backend] = [.onDisk, .ephemeral, .daemon]
    /// The backends that give users' programs no access to the keys.
    public static let daemons: [Backend] = [.daemon, .systemDaemon]
    public static let everywhere = allCases + [.systemDaemon]
}

/// A keychain for one test.
public final class TestKeychain: Sendable {
    public let backend: Backend
    package let service: any KeychainService
    /// nil in memory.
    public let directory: TemporaryDirectory?
    public let clock: TestClock
    /// Answers the prompts of this keychain.
    public let person: ScriptedPerson
    /// The hardware that holds keys outside of the process.
    private let hardware: SecureHardware

    public init(
        _ backend: Backend, person: ScriptedPerson = ScriptedPerson(), hardware: SecureHardware = SecureHardware()
    ) throws {
        let clock = TestClock()
        switch backend {
        case .ephemeral:
            service = try EmbeddedService(
                inMemory: clock.clocks, presence: person.sources(of: backend), hardware: hardware)
            directory = nil
        case .onDisk, .daemon, .systemDaemon:
            let directory = try TemporaryDirectory()
            service = try Self.service(backend, on: directory, clock: clock, person, hardware)
            self.directory = directory
        }
        self.hardware = hardware
        self.backend = backend
        self.clock = clock
        self.person = person
    }

    private static func service(
        _ backend: Backend, on directory: TemporaryDirectory, clock: TestClock, _ person: ScriptedPerson,
        _ hardware: SecureHardware
    ) throws -> any KeychainService {
        if Backend.daemons.contains(backend) {
            return RoutedService(try daemon(backend, on: directory, clock: clock, person, hardware))
        }
        return try EmbeddedService(
            home: KeychainHome(root: directory.path), clocks: clock.clocks, presence: person.sources(of: backend),
            hardware: hardware)
    }

    private static func daemon(
        _ backend: Backend, on directory: TemporaryDirectory, clock: TestClock, _ person: ScriptedPerson,
        _ hardware: SecureHardware
    ) throws -> KeychainServer {
        guard backend == .systemDaemon else {
            return try server(on: directory, clock: clock, person: person, hardware: hardware)
        }
        let provider = HomeProvider(
            stateDirectory: directory.path, clocks: clock.clocks, presence: person.sources(of: backend),
            hardware: hardware)
        return try KeychainServer(provider, reader: CallerReader(commands: [], entitlements: nil))
    }

    /// Returns a daemon in this process that uses the keychain in a directory.
    public static func server(
        on directory: TemporaryDirectory, clock: TestClock, limits: ServerLimits = ServerLimits(),
        person: ScriptedPerson = ScriptedPerson(), hardware: SecureHardware = SecureHardware()
    ) throws -> KeychainServer {
        let provider = HomeProvider(
            user: geteuid(), home: KeychainHome(root: directory.path), clocks: clock.clocks,
            presence: person.sources(of: .daemon), hardware: hardware)
        return try KeychainServer(provider, reader: CallerReader(commands: [], entitlements: nil), limits: limits)
    }

    /// Opens the keychain in this directory as another process would. A previous daemon must have
    /// ended.
    public init(
        _ backend: Backend = .onDisk, in directory: TemporaryDirectory, clock: TestClock,
        person: ScriptedPerson = ScriptedPerson(), hardware: SecureHardware = SecureHardware()
    ) throws {
        service = try Self.service(backend, on: directory, clock: clock, person, hardware)
        self.hardware = hardware
        self.person = person
        self.backend = backend
        self.directory = directory
        self.clock = clock
    }

    /// Closes the keychain and opens the same files again, as after a restart of the process or the
    /// daemon.
    public func reopened() throws -> TestKeychain {
        guard let directory else { throw SystemError("open again", path: ":memory:", code: EINVAL) }
        service.close()
        return try TestKeychain(backend, in: directory, clock: clock, person: person, hardware: hardware)
    }

    /// Restarts the daemon. The programs keep their objects and connect again.
    public func restartDaemon() throws {
        guard let directory, let routed = service as? RoutedService else {
            throw SystemError("restart the daemon of a keychain", path: backend.rawValue, code: EINVAL)
        }
        try routed.restart { try Self.daemon(backend, on: directory, clock: clock, person, hardware) }
    }

    /// Runs `body` as a program with these declared groups; nil for a program without an identity.
    public func run<Result>(
        groups: [String]?, executable: String = "/usr/bin/example", isUserCommand: Bool = false,
        _ body: () throws -> Result
    ) rethrows -> Result {
        let identity = CallerIdentity(executable: executable, declaredGroups: groups, isUserCommand: isUserCommand)
        return try CallerContext.$current.withValue(
            CallerContext(identity: identity, service: service, place: ScriptedPerson.place), operation: body)
    }

    /// Runs `body` as ``run(groups:executable:isUserCommand:_:)`` does, with everything that its task
    /// starts.
    public func runTask<Result>(
        groups: [String]?, executable: String = "/usr/bin/example",
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        let identity = CallerIdentity(executable: executable, declaredGroups: groups)
        return try await CallerContext.$current.withValue(
            CallerContext(identity: identity, service: service, place: ScriptedPerson.place), operation: body)
    }

    deinit {
        service.close()
    }
}

/// Clocks that change only when a test advances them.
public final class TestClock: Sendable {
    /// 2026-11-22 12:00:00 UTC, in seconds since 2001-01-01.
    private let seconds = Mutex(817_041_600.0)
    /// The nanoseconds since the boot, and the number of that boot.
    private let boot = Mutex((nanoseconds: UInt64(1_000_000_000_000), number: 1))

    public var now: Double { seconds.withLock { $0 } }

    public init() {}

    public func advance(by step: Double) {
        seconds.withLock { $0 += step }
        boot.withLock { $0.nanoseconds += UInt64(max(0, step) * 1e9) }
    }

    /// Simulates a boot of the machine.
    public func reboot() {
        boot.withLock { $0 = (5_000_000_000, $0.number + 1) }
    }

    /// The clocks for a service, with the lowest passcode cost that a keybag accepts.
    public var clocks: Clocks {
        Clocks(
            wall: { self.now },
            boot: BootClock(
                now: { self.boot.withLock { $0.nanoseconds } },
                identifier: { "00000000-0000-4000-8000-00000000000\(self.boot.withLock { $0.number })" }),
            passcodeExponent: 10)
    }
}

/// Runs `body` on a new keychain, as a program entitled to the groups G1 and G2, as the rows of the
/// specification assume.
public func withKeychain<Result>(
    _ backend: Backend, groups: [String]? = ["G1", "G2"], executable: String = "/usr/bin/example",
    _ body: (TestKeychain) throws -> Result
) throws -> Result {
    let keychain = try TestKeychain(backend)
    return try keychain.run(groups: groups, executable: executable) { try body(keychain) }
}
