// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// `latchkey root`.
struct RootCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.root.rawValue, abstract: LatchkeySubcommand.root.abstract,
        discussion: """
            The device key opens every item that needs no passcode, and is one of the keys that open the others. In a \
            file, it is in every copy of the disk. In the TPM or a credential of systemd, it stays on this machine: if \
            that is cleared or replaced, only the recovery key or a backup helps. The keychain never uses another \
            device key than the one that it records.

            EXAMPLES:
              latchkey root show --json
              latchkey root tpm --dry-run
              latchkey root tpm
            """,
        subcommands: [Show.self, ToTPM.self, ToCredential.self, ToFile.self, Reseal.self])

    /// `latchkey root show`.
    struct Show: ParsableSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show where the device key is.",
            discussion: """
                EXAMPLES:
                  latchkey root show
                  latchkey root show --json
                """)

        @Flag(help: "Print JSON.")
        var json = false

        func run(in session: CommandSession) throws(CommandFailure) {
            let keychain = try session.keychain()
            let status = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try keychain.status() }
            let report = RootReport(status)
            try session.write(json ? try JSONText.of(report) : report.text)
        }
    }

    /// `latchkey root tpm`.
    struct ToTPM: ParsableSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "tpm", abstract: "Move the device key to the TPM, and destroy its file.",
            discussion: """
                Afterwards only latchkeyd and this command open the keychain: programs cannot do it themselves. The \
                TPM counts wrong passcodes, and accepts none after ten; and it counts the changes of passcode and \
                keys, so that an older copy of the keychain is refused. A recovery key opens it in both cases. Disks \
                and backups can still have the file.

                With --pcrs, the TPM also requires that the machine was started as now: these registers have the \
                values of firmware (0), its configuration (1), Secure Boot (7) and others. For updates, a code is \
                printed first, and not stored: latchkey root reseal asks for it.

                EXAMPLES:
                  latchkey root tpm --dry-run
                  latchkey root tpm --passcode-file ~/.passcode
                  install -m 600 /dev/null paper.txt
                  latchkey root tpm --pcrs 0,7 > paper.txt
                """)

        @Option(help: ArgumentHelp("Require the present values of these PCRs.", valueName: "0,7"))
        var pcrs: RegisterList?

        @OptionGroup var move: RootMove

        func run(in session: CommandSession) throws(CommandFailure) {
            guard let pcrs else { return try move.run(to: .tpm, in: session) }
            let code = RegisterCode.random()
            // Before anything is changed: afterwards nothing else helps.
            if !move.dryRun { try Self.printCode(code, in: session) }
            do throws(CommandFailure) {
                try move.run(to: RootTarget(.tpm, registers: pcrs.numbers, code: code), in: session)
            } catch {
                if !move.dryRun {
                    session.io.say("latchkey: the device key was not sealed to the PCRs with this code\n")
                }
                throw error
            }
        }

        private static func printCode(_ code: SharedSecret, in session: CommandSession) throws(CommandFailure) {
            try session.writeSecret(
                SecretBytes(count: code.count + 1) { line in
                    code.withUnsafeBytes { line[..<code.count].copyBytes(from: $0) }
                    line[code.count] = UInt8(ascii: "\n")
                }, to: .output)
            session.io.say(
                "latchkey: write the code down and keep it away from this device; it is shown only once\n")
        }
    }

    /// `latchkey root credential`.
    struct ToCredential: ParsableSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "credential", abstract: "Move the device key to a credential of systemd.",
            discussion: """
                systemd-creds encrypts it for this machine, also with its TPM if there is one; only root can do that. \
                Services receive it by a line in their unit:

                LoadCredentialEncrypted=latchkey.device-key:/PATH/state/device.credential

                EXAMPLES:
                  LATCHKEY_HOME=/var/lib/shop latchkey root credential --dry-run
                  LATCHKEY_HOME=/var/lib/shop latchkey root credential
                """)

        @OptionGroup var move: RootMove

        func run(in session: CommandSession) throws(CommandFailure) { try move.run(to: .credential, in: session) }
    }

    /// `latchkey root file`.
    struct ToFile: ParsableSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "file", abstract: "Move the device key to a file of mode 0600.",
            discussion: """
                EXAMPLES:
                  latchkey root file --dry-run
                  latchkey root file
                """)

        @OptionGroup var move: RootMove

        func run(in session: CommandSession) throws(CommandFailure) { try move.run(to: .file, in: session) }
    }

    /// `latchkey root reseal`.
    struct Reseal: ParsableSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "reseal", abstract: "Accept the present PCRs, after an update of the machine.",
            discussion: """
                For a device key that was moved with --pcrs: the code of the move opens it, and it is sealed to the \
                values that the PCRs have now. The code stays the same.

                EXAMPLES:
                  latchkey root reseal
                  latchkey root reseal --code-file paper.txt
                """)

        @Option(
            help: ArgumentHelp("Take the code from the first line of this file (mode 0600).", valueName: "file"),
            completion: .file())
        var codeFile: FilePath?

        func run(in session: CommandSession) throws(CommandFailure) {
            let source = PasscodeSource(file: codeFile, fileOption: "--code-file", noun: "code", usesEnvironment: false)
            try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
                try KeychainClient.resealRoot(with: try source.read("code: ", in: session))
            }
            session.io.say("latchkey: the device key is sealed to the present values of the PCRs\n")
        }
    }
}

/// The argument of `--pcrs`: numbers with commas.
struct RegisterList: ExpressibleByArgument {
    let numbers: Set<UInt8>

    init?(argument: String) {
        var numbers: Set<UInt8> = []
        for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
            guard let number = UInt8(part), number < 24 else { return nil }
            numbers.insert(number)
        }
        guard numbers.count <= 8 else { return nil }
        self.numbers = numbers
    }
}

/// The options of moves, and the move.
struct RootMove: ParsableArguments {
    @Flag(name: [.customShort("n"), .long], help: "Only check that the device key can be moved.")
    var dryRun = false

    @OptionGroup var passcode: PasscodeOptions

    func run(to target: RootTarget, in session: CommandSession) throws(CommandFailure) {
        let keychain = try session.keychain()
        let (isMoved, lock) = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            let lock = try keychain.lockStatus()
            let needsPasscode = lock.hasPasscode && !dryRun
            let code = needsPasscode ? try passcode.source.read(in: session) : nil
            return (try keychain.moveRoot(to: target, code, dryRun: dryRun), lock)
        }
        let place: TerminalText =
            switch target.root {
            case .tpm: "in the TPM"
            case .credential: "a credential of systemd"
            case .file, .memory: "in a file"
            }
        guard isMoved else { return session.io.say("latchkey: the device key is \(place) already\n") }
        session.io.say(
            dryRun
                ? "latchkey: the device key can be moved: it would be \(place)\n"
                : "latchkey: the device key is \(place)\n")
        guard target.root != .file, !lock.hasRecoveryKey else { return }
        session.io.say("latchkey: warning: without a recovery key, all items are lost with this machine\n")
        session.io.say("hint: latchkey recovery-key create\n")
    }
}

/// Where the device key is, in the shape of its JSON.
struct RootReport: Encodable {
    /// `file`, `tpm`, `credential`, `memory`.
    var root: String
    var path: String?
    /// The PCRs that the TPM has sealed it to.
    var pcrs: [UInt8]
    /// Whether the TPM counts wrong passcodes.
    var limitsPasscodes: Bool

    init(_ status: KeychainStatus) {
        (root, path) = (status.root.rawValue, status.deviceKeyPath)
        (pcrs, limitsPasscodes) = (status.rootRegisters.sorted(), status.limitsPasscodes)
    }

    var text: TerminalText {
        switch KeychainStatus.Root(rawValue: root) {
        case .tpm:
            "the device key is sealed by the TPM\(registersText): \(path ?? "")\n\(limitText)"
        case .credential: "the device key is a credential of systemd: \(path ?? "")\n"
        case .file: "the device key is in a file: \(path ?? "")\n"
        case .memory, nil: "the device key is in memory\n"
        }
    }

    private var registersText: TerminalText {
        pcrs.isEmpty ? "" : " to the PCRs \(pcrs.map(String.init).joined(separator: ","))"
    }

    private var limitText: TerminalText {
        limitsPasscodes ? "the TPM counts wrong passcodes, and accepts none after ten\n" : ""
    }
}
