// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LatchkeyProtocol
internal import LatchkeyService

/// Which daemon serves this process, if any: that of the session it was started in, the user's own, or the system's.
struct DaemonDiscovery {
    let environment: (String) -> String?
    let claim: @Sendable () -> CallerIdentity
    let automaticPasscode: AutomaticUnlock.Source

    /// The daemon's service; nil where the process opens the keychain itself.
    ///
    /// - Throws: errSecNotAvailable where a daemon has to be there and is not, or where what answers is not to be trusted.
    func service() throws(KeychainError) -> DaemonService? {
        if let variable = environment("LATCHKEY_SESSION_FD"), !variable.isEmpty {
            return DaemonService(try SessionConnector(variable), claim: claim, automaticPasscode: automaticPasscode)
        }
        if let service = try userService() { return service }
        // Who names a home of his own means that one, and not the system's keychain.
        guard !isHomeNamed else { return nil }
        return try systemService()
    }

    private func userService() throws(KeychainError) -> DaemonService? {
        let path = "\(runtimeDirectory)/latchkey/socket"
        guard let (service, welcome) = try connect(.user(path)) else { return nil }
        let home = try KeychainHome.resolve(environment)
        guard welcome.dataDirectory == home.dataDirectory, welcome.stateDirectory == home.stateDirectory else {
            return nil
        }
        return service
    }

    private var isHomeNamed: Bool { !(environment("LATCHKEY_HOME") ?? "").isEmpty }

    private func systemService() throws(KeychainError) -> DaemonService? {
        let home = try? KeychainHome.resolve(environment)
        if let (service, _) = try connect(.system(systemSocket)) {
            if let home { SystemDaemonMarker.set(in: home) }
            return service
        }
        try refuseWithoutSystemDaemon(home)
        return nil
    }

    /// Fails where the keychain of this user is one that the system's daemon keeps, which is away.
    private func refuseWithoutSystemDaemon(_ home: KeychainHome?) throws(KeychainError) {
        let start = "sudo systemctl start latchkeyd.socket"
        guard try !ClientConfiguration.load().requiresSystemDaemon else {
            throw KeychainError(
                .notAvailable,
                "the keychains of this machine belong to latchkeyd, which does not answer at \(systemSocket)",
                hint: "\(start) (\(ClientConfiguration.path) says that it is required)")
        }
        guard let home, SystemDaemonMarker.isSet(in: home) else { return }
        throw KeychainError(
            .notAvailable, "the system's latchkeyd keeps this user's keychain, and does not answer at \(systemSocket)",
            hint: "\(start); to do without it, with another keychain: latchkeyd --system --release")
    }

    /// Whether something listens at the system daemon's socket.
    var hasSystemDaemon: Bool { SocketConnector.system(systemSocket).hasListener }

    private var systemSocket: String {
        let named = environment("LATCHKEY_SYSTEM_SOCKET") ?? ""
        return named.isEmpty ? Self.systemSocket : named
    }

    /// The daemon at a socket; nil where nobody listens there. Whether somebody has to is said by the mark of the home.
    private func connect(_ connector: SocketConnector) throws(KeychainError) -> (
        DaemonService, LatchkeyProtocol.Response.Welcome
    )? {
        guard connector.hasListener else { return nil }
        let service = DaemonService(connector, claim: claim, automaticPasscode: automaticPasscode)
        return (service, try service.client.welcome())
    }

    private var runtimeDirectory: String {
        if let directory = environment("XDG_RUNTIME_DIR"), directory.hasPrefix("/") { return directory }
        return "/run/user/\(getuid())"
    }

    private static let systemSocket = "/run/latchkey/socket"
}
