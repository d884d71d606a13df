// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem

/// Finds the daemon that serves this process, if any: that of its session, the user's own, or the
/// system's.
struct DaemonDiscovery {
    let environment: (String) -> String?
    let claim: @Sendable () -> CallerIdentity
    let automaticPasscode: AutomaticUnlock.Source
    /// The user's keychain that is wanted; nil for those of the search list.
    var keychain: KeychainName?

    /// Returns the daemon's service; nil if the process opens the keychain itself.
    ///
    /// - Throws: errSecNotAvailable if a required daemon does not answer, or if the process that
    ///   answers is not trusted.
    func service() throws(KeychainError) -> DaemonService? {
        if let variable = environment("LATCHKEY_SESSION_FD"), !variable.isEmpty {
            DebugLog.write("LATCHKEY_SESSION_FD is set: a process that has unlocked the keychain serves this one")
            return DaemonService(
                try SessionConnector(variable), keychain: keychain, claim: claim, automaticPasscode: automaticPasscode)
        }
        if let service = try userService() {
            DebugLog.write("the user's latchkeyd serves this process")
            return service
        }
        // LATCHKEY_HOME selects that home, not the system's keychain.
        let service = try isHomeNamed ? nil : systemService()
        DebugLog.write(
            service == nil ? "no latchkeyd serves this process" : "the system's latchkeyd serves this process")
        return service
    }

    private func userService() throws(KeychainError) -> DaemonService? {
        let login = try KeychainHome.resolve(environment)
        let home = UserKeychains(login).home(of: keychain ?? .login)
        for path in UserSocket.candidates(login, environment) {
            guard let (service, welcome) = try connect(.user(path)) else { continue }
            if welcome.dataDirectory == home.dataDirectory, welcome.stateDirectory == home.stateDirectory {
                return service
            }
        }
        return nil
    }

    private var isHomeNamed: Bool { !(environment("LATCHKEY_HOME") ?? "").isEmpty }

    private func systemService() throws(KeychainError) -> DaemonService? {
        let home = try? KeychainHome.resolve(environment)
        if let (service, _) = try connect(systemConnector) {
            if let home { SystemDaemonMarker.set(in: home) }
            return service
        }
        try refuseWithoutSystemDaemon(home)
        return nil
    }

    /// Throws if the system's daemon keeps this user's keychain, and does not answer.
    private func refuseWithoutSystemDaemon(_ home: KeychainHome?) throws(KeychainError) {
        let start = "sudo systemctl start latchkeyd.socket"
        guard try !ClientConfiguration.load().requiresSystemDaemon else {
            throw KeychainError(
                .notAvailable,
                "the system's latchkeyd keeps the keychains of this machine, but does not answer at \(systemSocket)",
                hint: "\(start) (it is required by \(ClientConfiguration.path))")
        }
        guard let home, SystemDaemonMarker.isSet(in: home) else { return }
        throw KeychainError(
            .notAvailable, "the system's latchkeyd keeps this user's keychain, and does not answer at \(systemSocket)",
            hint: "\(start); to use a separate keychain without it: latchkey daemon --system --release")
    }

    /// Whether a process listens at the system daemon's socket.
    var hasSystemDaemon: Bool { systemConnector.hasListener }

    /// Connects to the system's daemon, whether or not it keeps the keychain of this process.
    var systemConnector: SocketConnector { .system(systemSocket) }

    private var systemSocket: String {
        let named = environment("LATCHKEY_SYSTEM_SOCKET") ?? ""
        return named.isEmpty ? Self.systemSocket : named
    }

    /// Connects to the daemon at a socket; returns nil if no process listens there. The marker file
    /// in the home records whether a daemon is required.
    private func connect(_ connector: SocketConnector) throws(KeychainError) -> (
        DaemonService, Welcome
    )? {
        guard connector.hasListener else { return nil }
        let service = DaemonService(connector, keychain: keychain, claim: claim, automaticPasscode: automaticPasscode)
        return (service, try service.client.welcome())
    }

    private static let systemSocket = "/run/latchkey/socket"
}
