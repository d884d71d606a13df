// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import HardwareSecurity
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyServer
internal import LatchkeyService
internal import LinuxSystem
internal import SecurityKeyPresence
internal import TrustedPlatformModule

/// The socket of a daemon, and the keychains that it serves.
struct DaemonEnvironment {
    let isSystem: Bool
    /// The path given on the command line.
    let socket: String?
    let stateDirectory: String
    let entitlements: String
    /// The file of subordinate user ids.
    let subordinates: String
    /// The limits of each keychain's audit log.
    let auditLimits: AuditLog.Limits
    /// How long a prompt waits for an answer.
    let promptTimeout: PromptTimeout
    /// The address of the TPM, or `none`, given on the command line.
    let tpm: String?

    /// Whether a command has started the daemon: it owns the home only while it runs.
    let isOnDemand: Bool

    func socketPath() throws(KeychainError) -> String {
        if let socket { return socket }
        if isOnDemand { return UserSocket.ofStartedDaemon(try userHome()) }
        if isSystem { return "/run/latchkey/socket" }
        if let directory = environment("XDG_RUNTIME_DIR"), directory.hasPrefix("/") {
            return "\(directory)/latchkey/socket"
        }
        let directory = "/run/user/\(getuid())"
        guard access(directory, W_OK) == 0 else {
            throw KeychainError(
                .notAvailable,
                "no directory for the socket: XDG_RUNTIME_DIR is not set, and \(directory) does not exist or is not writable",
                hint: "export XDG_RUNTIME_DIR=/path/of/a/private/directory, for the daemon and for its clients")
        }
        return "\(directory)/latchkey/socket"
    }

    func userHome() throws(KeychainError) -> KeychainHome {
        try KeychainHome.resolve(environment)
    }

    /// Returns the keychains. A user's daemon already owns the home of its user.
    ///
    /// - Parameter agents: how the system's daemon asks persons.
    /// - Throws: also if the configuration file is not valid.
    func provider(_ agents: AgentDesk) throws -> HomeProvider {
        if isSystem {
            let configuration = try DaemonConfiguration.load()
            var presence = agents.presence
            presence.securityKeys = ConnectedSecurityKeys()
            presence.timeout = promptTimeout
            return HomeProvider(
                stateDirectory: stateDirectory, limits: auditLimits, quota: configuration.quota,
                allowsAlwaysOpen: configuration.allowsAlwaysOpen,
                subordinates: configuration.allowsSubordinateUsers ? nil : SubordinateUsers(subordinates),
                presence: presence,
                hardware: SecureHardware(
                    try MachineHardware.find(tpm ?? configuration.tpm, readsEnvironment: false),
                    offersSoftwareEnclave: true))
        }
        let provider = HomeProvider(
            user: geteuid(), home: try userHome(), limits: auditLimits,
            presence: PresenceSources(
                biometry: FingerprintBiometry(), securityKeys: ConnectedSecurityKeys(), timeout: promptTimeout),
            hardware: SecureHardware(try MachineHardware.find(tpm, readsEnvironment: true)),
            ownsWhileRunning: isOnDemand
        ) {
            () throws(KeychainError) in
            try KeychainClient.passcodeOfEnvironment()
        }
        try provider.acquire(homeOf: geteuid())
        return provider
    }

    /// Returns the reader of caller identities. A user's daemon attests nothing, because the user's
    /// programs control it.
    func reader() -> CallerReader {
        CallerReader(
            commands: ["latchkey", LatchkeySecretService.name].compactMap { Installation.current?.program($0) },
            entitlements: isSystem ? EntitlementsDirectory(entitlements) : nil)
    }

    private func environment(_ name: String) -> String? { SecureEnvironment.value(of: name) }
}
