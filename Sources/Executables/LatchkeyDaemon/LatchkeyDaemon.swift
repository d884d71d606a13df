// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Glibc
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyServer
internal import LatchkeyService
internal import LinuxSystem
internal import Logging
internal import TrustedPlatformModule

/// The daemon `latchkeyd`: only the command line and the start.
struct LatchkeyDaemon: DaemonProgram {
    static let name = "latchkeyd"
    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Hold one keychain for all programs, separated by access groups.",
        discussion: """
            A user's daemon serves the keychain of that user and writes a marker file: from then on, programs no
            longer open the files themselves, even if the daemon is not running. The system's daemon runs as a
            separate user and keeps a keychain for each user. A user's programs can use that keychain, but cannot read
            its files.

            With systemd, the service manager listens at the socket: systemctl --user enable --now latchkeyd.socket

            EXAMPLES:
              latchkey daemon --user
              latchkey daemon --user --release
              latchkey daemon --system --state-directory /var/lib/latchkey
            """,
        version: LatchkeyVersion.current)

    @Flag(help: "Serve this user's keychain to this user's programs.")
    var user = false

    @Flag(help: "Serve a separate keychain to each user, stored by the user that the daemon runs as.")
    var system = false

    @Flag(
        help: ArgumentHelp(
            "Let the programs of this user open the keychain in the home themselves again, and exit.",
            discussion:
                "With --user, if the keychain belonged to a user's daemon; with --system, if the system's daemon kept a separate one."
        ))
    var release = false

    @Option(
        help: ArgumentHelp("Listen at this path instead of the default one.", valueName: "path"), completion: .file())
    var socket: String?

    @Option(
        help: ArgumentHelp("With --system: the directory that contains the keychains.", valueName: "directory"),
        completion: .directory)
    var stateDirectory = "/var/lib/latchkey"

    @Option(
        help: ArgumentHelp("With --system: the directory of entitlement files.", valueName: "directory"),
        completion: .directory)
    var entitlements = "/etc/latchkey/entitlements.d"

    @Option(
        help: ArgumentHelp(
            "With --system: the file of subordinate user ids (without keychains).", valueName: "file"),
        completion: .file())
    var subuid = SubordinateUsers.systemPath

    @Option(
        help: ArgumentHelp(
            "The maximum size of each keychain's audit log, in MiB, from 1 to 65536.", valueName: "size"))
    var auditSize = 40

    @Option(
        help: ArgumentHelp(
            "The minimum age of audit log lines before removal, in days, from 0 to 36500. The size limit takes precedence.",
            valueName: "days"))
    var auditAge = 30

    @Option(
        help: ArgumentHelp(
            "How long a prompt waits for the user's answer, in seconds, from 5 to 3600.", valueName: "seconds"))
    var promptTimeout = PromptTimeout.standard.seconds

    @Option(
        help: ArgumentHelp(
            "The TPM: device:/dev/tpmrm0, swtpm:path=/…, swtpm:port=2321, or none. The default is the machine's.",
            valueName: "address"))
    var tpm: String?

    @Flag(
        help: ArgumentHelp(
            "With --user: end when no keychain is unlocked and no process has asked for a while, as commands start it.")
    )
    var onDemand = false

    @Option(
        help: ArgumentHelp(
            "With --on-demand: how long no process has asked, in seconds, from 1 to 86400.", valueName: "seconds"))
    var idleTime = 300

    /// The descriptor that tells the starting command that the daemon is ready.
    @Option(help: .hidden)
    var readyDescriptor: Int32?

    @Option(help: ArgumentHelp("The log level: debug, info, notice, warning or error.", valueName: "level"))
    var logLevel = LogLevel.notice

    func validate() throws {
        guard user != system else { throw ValidationError("give either --user or --system") }
        guard !onDemand || user else { throw ValidationError("--on-demand is for --user") }
        guard (1...86400).contains(idleTime) else {
            throw ValidationError("--idle-time must be a number of seconds from 1 to 86400, and is \(idleTime)")
        }
        guard (1...65536).contains(auditSize) else {
            throw ValidationError("--audit-size must be a number of MiB from 1 to 65536, and is \(auditSize)")
        }
        guard (0...36500).contains(auditAge) else {
            throw ValidationError("--audit-age must be a number of days from 0 to 36500, and is \(auditAge)")
        }
        guard PromptTimeout(seconds: promptTimeout) != nil else {
            throw ValidationError(
                "--prompt-timeout must be a number of seconds from 5 to 3600, and is \(promptTimeout)")
        }
    }

    func run() throws {
        do {
            try ProcessHardening.apply()
            TrustedPlatformModule.silenceLibrary()
            ProcessLimits.raiseOpenFiles()
            ProcessLimits.shareHeaps()
            let environment = DaemonEnvironment(
                isSystem: system, socket: socket, stateDirectory: stateDirectory, entitlements: entitlements,
                subordinates: subuid,
                auditLimits: AuditLog.Limits(totalLength: auditSize << 20, minimumAge: Double(auditAge) * 86400),
                promptTimeout: PromptTimeout(seconds: promptTimeout) ?? .standard, tpm: tpm,
                isOnDemand: onDemand)
            if release { return try releaseHome(environment) }
            try serve(environment, Self.log(logLevel))
        } catch let error as KeychainError {
            throw Self.failure(error.problem, error.hint)
        } catch let error as SystemError {
            throw Self.failure(error.description, error.hint)
        }
    }

    /// No queue of Dispatch runs in the daemon, and no task: on Linux, either has a timer look at the queues
    /// once a second.
    private func serve(_ environment: DaemonEnvironment, _ log: Logger) throws {
        let end = try StopSignal()
        // Before other threads start, so that they block the signals as well.
        guard TerminationSignals.handle([SIGTERM, SIGINT], { end.raise() }) else {
            throw SystemError("start a thread", code: EAGAIN)
        }
        let daemon = try RunningDaemon(environment, idleTime: onDemand ? idleTime : nil, log, until: end)
        if let readyDescriptor { BackgroundProcess.isReady(readyDescriptor) }
        try daemon.run()
    }

    private func releaseHome(_ environment: DaemonEnvironment) throws {
        let home = try environment.userHome()
        if system { return try forgetSystemDaemon(home) }
        let keychains = UserKeychains(home)
        var wasMarked = false
        for name in try keychains.names() {
            wasMarked = try HomeOwnership.removeMarker(keychains.home(of: name)) || wasMarked
        }
        let path = home.dataDirectory
        Self.say(wasMarked ? "programs open the keychain in \(path) themselves again" : "\(path) belonged to no daemon")
    }

    /// Removes the marker file. The keychain that the system's daemon keeps is not changed.
    private func forgetSystemDaemon(_ home: KeychainHome) throws {
        let wasMarked = try KeychainClient.forgetSystemDaemon(home)
        Self.say(
            wasMarked
                ? "programs of this user open the keychain in \(home.dataDirectory); the system's latchkeyd still has its keychain of this user"
                : "programs of this user did not depend on the system's latchkeyd")
    }
}
