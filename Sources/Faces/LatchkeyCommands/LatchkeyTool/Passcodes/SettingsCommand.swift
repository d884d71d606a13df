// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// `latchkey settings`.
struct SettingsCommand: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.settings.rawValue, abstract: LatchkeySubcommand.settings.abstract,
        discussion: """
            Without options, shows the settings. Changing them requires the passcode, if one is set; consent does not, \
            because it isolates nothing.

            EXAMPLES:
              latchkey settings --json
              latchkey settings --grace 0 --lock-after 600
              latchkey settings --wipe-after-ten --passcode-file ~/.passcode
              latchkey settings enclave software
              latchkey settings consent creator
            """)

    @Flag(help: "Print JSON.")
    var json = false

    @Option(
        help: ArgumentHelp("The grace period: how long keys are kept after a lock; 0 for none.", valueName: "seconds")
    )
    var grace: UInt16?

    @Option(help: ArgumentHelp("Lock after this time without use; 0 for never.", valueName: "seconds"))
    var lockAfter: UInt32?

    @Flag(
        inversion: .prefixedNo,
        help: "Lock when the machine goes to sleep. Requires latchkeyd; a process on its own is not notified.")
    var lockOnSleep: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: "Destroy the protected items after ten wrong passcodes. Any program of the user can then do this.")
    var wipeAfterTen: Bool?

    @OptionGroup var passcode: PasscodeOptions

    @Argument(
        help: ArgumentHelp(
            "With enclave software, the system's latchkeyd holds the keys of a Secure Enclave itself if there is no TPM; with enclave hardware, such keys are not created. With consent creator, you are asked before a desktop program reads an item that it has not stored; with consent always, before it reads any; with consent never, you are not asked.",
            valueName: "enclave software|hardware, consent never|creator|always"))
    var words: [String] = []

    func validate() throws {
        guard words.isEmpty || enclave != nil || consent != nil else {
            throw ValidationError(
                "expected 'enclave software|hardware' or 'consent never|creator|always', found '\(words.joined(separator: " "))'"
            )
        }
    }

    /// The choice for a Secure Enclave; nil if there is none.
    private var enclave: String? { choice(of: "enclave").flatMap { ["software", "hardware"].contains($0) ? $0 : nil } }

    /// The choice for desktop programs; nil if there is none.
    private var consent: ConsentMode? { choice(of: "consent").flatMap { ConsentMode(rawValue: $0) } }

    private func choice(of name: String) -> String? { words.count == 2 && words.first == name ? words.last : nil }

    func run(in session: CommandSession) throws(CommandFailure) {
        let keychain = try session.keychain()
        let status = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try keychain.lockStatus() }
        var settings = status.settings
        settings.graceSeconds = grace ?? settings.graceSeconds
        settings.lockInterval = lockAfter ?? settings.lockInterval
        settings.locksOnSleep = lockOnSleep ?? settings.locksOnSleep
        settings.wipesAfterTen = wipeAfterTen ?? settings.wipesAfterTen
        if let enclave { settings.allowsSoftwareEnclave = enclave == "software" }
        if settings != status.settings {
            try Self.change(keychain, to: settings, of: status, passcode.source, in: session)
        }
        let mode = try CommandFailure.mapErrors(nil) { () throws(KeychainError) -> ConsentMode in
            let consents = KeychainConsents(keychain)
            if let consent { try consents.setMode(consent) }
            return try consents.mode()
        }
        let report = SettingsReport(settings, mode)
        try session.write(json ? try JSONText.of(report) : report.text)
    }

    /// Changes the settings. Asks for the passcode if one is set.
    static func change(
        _ keychain: KeychainSession, to settings: KeybagSettings, of status: LockStatus, _ source: PasscodeSource,
        in session: CommandSession
    ) throws(CommandFailure) {
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            let passcode = status.hasPasscode ? try source.read(in: session) : nil
            try keychain.changeSettings(to: settings, passcode)
        }
    }
}

/// The settings, in the shape of their JSON.
struct SettingsReport: Encodable {
    var grace: UInt16
    var lockAfter: UInt32
    var lockOnSleep: Bool
    var wipeAfterTen: Bool
    /// `hardware`, or `software` if latchkeyd may hold such keys itself.
    var enclave: String
    /// `never`, `creator` or `always`.
    var consent: String

    init(_ settings: KeybagSettings, _ mode: ConsentMode) {
        grace = settings.graceSeconds
        lockAfter = settings.lockInterval
        lockOnSleep = settings.locksOnSleep
        wipeAfterTen = settings.wipesAfterTen
        enclave = settings.allowsSoftwareEnclave ? "software" : "hardware"
        consent = mode.rawValue
    }

    var text: TerminalText {
        """
        grace:          \(grace == 0 ? "none" : "\(grace) s after the lock")
        lock after:     \(lockAfter == 0 ? "never" : "\(lockAfter) s without use")
        lock on sleep:  \(lockOnSleep ? "yes, with latchkeyd; a process on its own is not notified" : "no")
        wipe after ten: \(wipeAfterTen ? "yes" : "no")
        enclave:        \(enclave == "hardware" ? "hardware only" : "software, in the system's latchkeyd, if there is no TPM")
        consent:        \(consentText)

        """
    }
    private var consentText: String {
        switch consent {
        case ConsentMode.never.rawValue: "never asked before a desktop program reads an item"
        case ConsentMode.creator.rawValue: "asked before a desktop program reads an item that it has not stored"
        default: "asked before a desktop program reads an item"
        }
    }
}
