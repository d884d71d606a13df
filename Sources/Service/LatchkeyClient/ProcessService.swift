// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem

/// The keychains and the identity of one process.
final class ProcessService: Sendable {
    private struct State {
        /// The daemon that serves the keychains of the search list; nil if there is none.
        var daemon: DaemonService?
        /// The keychain in memory; nil if there is none.
        var memory: EmbeddedService?
        /// The keychains that a daemon serves under their names.
        var served: [KeychainName: DaemonService] = [:]
        /// The keychains that this process has opened from their files.
        var opened: [KeychainName: EmbeddedService] = [:]
        /// The search list, if this process opens the files itself.
        var list: KeychainListCache?
        /// How often this process has opened its keychains anew.
        var generation: UInt64 = 0

        /// Forgets the opened keychains, so that the next request opens them anew.
        mutating func renew() { self = State(generation: generation &+ 1) }
    }

    private let state = SystemMutex(State())
    let identity = ProgramIdentity.ofThisProcess()

    /// Returns the keychains of the search list.
    func open() throws(KeychainError) -> any KeychainService {
        closeLostDaemon()
        return try withState { (state) throws(KeychainError) in
            if let daemon = state.daemon { return daemon }
            if let memory = state.memory { return memory }
            if environment("LATCHKEY_EPHEMERAL") == "1" {
                let memory = try EmbeddedService(inMemory: .system, presence: Self.presence, hardware: Self.hardware)
                state.memory = memory
                return memory
            }
            if state.opened.isEmpty, let daemon = try Self.daemon() {
                state.daemon = daemon
                return daemon
            }
            return try Self.openSearchList(&state)
        }
    }

    /// The keychain that ``open()`` returns, if there is only one and its files are open: then nothing is opened, and
    /// no person is asked. nil otherwise.
    var opened: EmbeddedService? {
        state.withLock { state in
            guard state.daemon == nil, state.memory == nil, let service = state.opened[.login] else { return nil }
            guard !state.opened.values.contains(where: \.isOwnedByDaemon) else {
                state.renew()
                return nil
            }
            guard let list = try? state.list?.list(), list.isInitial else { return nil }
            return service
        }
    }

    /// Returns one keychain.
    ///
    /// - Throws: errSecNoSuchKeychain.
    func open(_ name: KeychainName) throws(KeychainError) -> any KeychainService {
        guard environment("LATCHKEY_EPHEMERAL") != "1" else {
            guard name == .login else { throw UserKeychains.missing(name) }
            return try open()
        }
        return try withState { (state) throws(KeychainError) in
            if let service = state.served[name] { return service }
            if state.opened.isEmpty, let service = try Self.discovery(of: name).service() {
                // Its connection fails for a name that does not exist; such a service is not kept.
                _ = try service.client.welcome()
                state.served[name] = service
                return service
            }
            return try Self.openFiles(of: name, Self.searchList(&state).keychains, &state)
        }
    }

    /// Returns the user's keychains. This process opens their files itself. While any are open, they are in the home of
    /// these; else the environment names the home.
    func keychains() throws(KeychainError) -> UserKeychains {
        let outcome = state.withLock { state in Result { () throws(KeychainError) in try Self.searchList(&state) } }
        return try outcome.get().keychains
    }

    /// Closes the connection to a daemon that has ended. Another daemon may serve this process now, or none,
    /// because an on-demand daemon that was killed stays away.
    private func closeLostDaemon() {
        let lost = state.withLock { state -> DaemonService? in
            guard let service = state.daemon, service.client.isLost else { return nil }
            state.renew()
            return service
        }
        lost?.close()
    }

    var isOpen: Bool { state.withLock { $0.daemon != nil || $0.memory != nil || !$0.opened.isEmpty } }

    func close() {
        let closing = state.withLock { state in
            defer { state.renew() }
            return state
        }
        closing.daemon?.close()
        closing.memory?.close()
        for service in closing.served.values { service.close() }
        for service in closing.opened.values { service.close() }
    }

    /// How often this process has opened its keychains anew.
    var generation: UInt64 { state.withLock { $0.generation } }

    /// Closes the services of a name, after the keychain was deleted.
    func forget(_ name: KeychainName) {
        let closing = state.withLock { state -> [any KeychainService] in
            let services: [(any KeychainService)?] = [
                state.served.removeValue(forKey: name), state.opened.removeValue(forKey: name),
            ]
            return services.compactMap { $0 }
        }
        for service in closing { service.close() }
    }

    private func withState(
        _ body: (inout State) throws(KeychainError) -> any KeychainService
    ) throws(KeychainError) -> any KeychainService {
        let outcome: Result<any KeychainService, KeychainError> = state.withLock { state in
            // Calls that still use the previous services keep references to them.
            if state.opened.values.contains(where: \.isOwnedByDaemon) { state.renew() }
            return Result { () throws(KeychainError) in try body(&state) }
        }
        return try outcome.get()
    }

    // MARK: A daemon

    /// Returns the daemon that serves this process; nil if there is none.
    static func daemon() throws(KeychainError) -> DaemonService? { try discovery(of: nil).service() }

    /// Finds the daemon that serves a keychain; nil for the keychains of the search list.
    static func discovery(of name: KeychainName?) -> DaemonDiscovery {
        DaemonDiscovery(
            environment: environment, claim: { KeychainClient.caller }, automaticPasscode: passcode,
            keychain: name)
    }

    // MARK: Files

    private static func openSearchList(_ state: inout State) throws(KeychainError) -> any KeychainService {
        let cache = try searchList(&state)
        let (list, keychains) = (try cache.list(), cache.keychains)
        guard !list.isInitial else { return try openFiles(of: .login, keychains, &state) }
        var members: [KeychainName: SearchedKeychains.Member] = [:]
        for name in list.search + [list.defaultKeychain, .login] where members[name] == nil {
            members[name] = Result { () throws(KeychainError) in
                try openFiles(of: name, keychains, &state) as any KeychainService
            }
        }
        return SearchedKeychains(members, search: list.search, defaultKeychain: list.defaultKeychain)
    }

    /// As ``keychains()``.
    private static func searchList(_ state: inout State) throws(KeychainError) -> KeychainListCache {
        if let list = state.list, !state.opened.isEmpty { return list }
        let list = KeychainListCache(UserKeychains(try KeychainClient.home()))
        state.list = list
        return list
    }

    private static func openFiles(
        of name: KeychainName, _ keychains: UserKeychains, _ state: inout State
    ) throws(KeychainError) -> EmbeddedService {
        guard try keychains.contains(name) else {
            state.opened[name] = nil
            throw UserKeychains.missing(name)
        }
        if let service = state.opened[name] { return service }
        let fresh = try DebugLog.measure(
            "opening the files of a keychain", failure: { (error: KeychainError) in "\(error)" }
        ) { () throws(KeychainError) -> EmbeddedService in
            try EmbeddedService(
                home: keychains.home(of: name), presence: presence, hardware: hardware,
                inspects: KeychainScope.inspects, automaticPasscode: passcode)
        }
        state.opened[name] = fresh
        return fresh
    }

    private static var presence: PresenceSources {
        PresenceSources(securityKeys: KeychainClient.setup.securityKeys)
    }

    private static var hardware: SecureHardware { KeychainClient.setup.hardware }

    private static let passcode: AutomaticUnlock.Source = { () throws(KeychainError) in
        if let source = KeychainClient.setup.passcode { return try source() }
        return try KeychainClient.passcodeOfEnvironment()
    }
}

private func environment(_ name: String) -> String? { SecureEnvironment.value(of: name) }
