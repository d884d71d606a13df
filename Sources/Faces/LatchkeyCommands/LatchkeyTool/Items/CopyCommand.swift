// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// `latchkey copy`.
struct CopyCommand: DailyCommand {
    static let definition = CommandDefinition.daily(
        .copy,
        notes: """
            Uses wl-copy, xclip or xsel where there is a display, and otherwise the terminal (OSC 52); over SSH the \
            terminal comes first. A clipboard that can be read is cleared only if it still contains the secret; that \
            of a terminal is cleared in any case. tmux passes OSC 52 on only after 'set -g set-clipboard on'. A \
            clipboard manager may keep a copy.
            """,
        examples: [
            "latchkey copy example.com/alice",
            "latchkey copy --timeout 10 example.com/alice",
            "latchkey copy --using osc52 example.com/alice",
        ],
        operand: "service/account", operandHelp: "The item, as 'latchkey list' shows it.",
        options: [
            CommandOption(
                "--timeout", .required("seconds"),
                help: "Clear the clipboard after this many seconds; 0 never does. (default: 45)"),
            CommandOption(
                "--using", value: .required("way"), completion: .words(Clipboard.allCases.map(\.rawValue)),
                help: "How to reach the clipboard."),
            CommandOption("--clear", isHidden: true, help: "Clear the clipboard of the secret in standard input."),
            CommandOption("--label", .required("label"), help: "Only an item with this label."),
        ] + ItemOptions.options + PromptOptions.options + PasscodeOptions.options)

    private let name: String?
    /// In seconds.
    private let timeout: Int
    private let using: Clipboard?
    private let clear: Bool
    private let label: String?
    private let options: ItemOptions
    private let person: PersonPrompt
    private let passcode: PasscodeSource

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        name = try arguments.operand()
        timeout = try arguments.number("--timeout", 0...86_400, unit: " seconds") ?? 45
        using = try arguments.choice("--using")
        clear = arguments.contains("--clear")
        label = try arguments.text("--label")
        options = try ItemOptions(arguments)
        person = try PersonPrompt(arguments)
        passcode = try PasscodeSource(daily: arguments)
    }

    func run(in session: CommandSession) throws(CommandFailure) {
        if clear { return try ClipboardClearing.run(using ?? .osc52, seconds: timeout, in: session) }
        passcode.unlockOnDemand(in: session)
        let items = try PasswordItems(session, person)
        let selection = try options.selection(named: name, label: label)
        let clipboard = try clipboard(in: session)
        let record = try items.one(selection)
        let secret = try items.secret(of: record)
        try check(secret, for: clipboard)
        try copy(secret, to: clipboard, in: session)
        let when = timeout == 0 ? "it is not cleared" : "it is cleared after \(timeout) s"
        session.io.say(
            "latchkey: copied \(record.passwordName.text) to the clipboard (\(clipboard.rawValue)); \(when)\n")
    }

    private func clipboard(in session: CommandSession) throws(CommandFailure) -> Clipboard {
        if using == .osc52, session.terminal == nil {
            throw .status(KeychainError(.notAvailable, "no output is a terminal with a clipboard to set"))
        }
        guard let clipboard = using ?? .choose(hasTerminal: session.terminal != nil) else {
            throw .status(
                KeychainError(
                    .notAvailable,
                    "no clipboard is available: no display with wl-copy, xclip or xsel, and no terminal with OSC 52",
                    hint: "install wl-clipboard, xclip or xsel; or use a pipe: latchkey get … | COMMAND"))
        }
        return clipboard
    }

    private func check(_ secret: SharedSecret, for clipboard: Clipboard) throws(CommandFailure) {
        guard secret.count > 0 else { throw .parameter("the secret is empty; there is nothing to copy") }
        guard SecretDisplay.isText(secret) else {
            throw .parameter(
                "the secret has control characters or is not UTF-8, and cannot be pasted",
                hint: "write it to a file or a pipe: latchkey get … > FILE")
        }
        guard clipboard != .osc52 || secret.count <= Clipboard.maxTerminalLength else {
            throw .parameter(
                "the secret has \(secret.count) bytes; a terminal takes at most \(Clipboard.maxTerminalLength)")
        }
    }

    /// The process that clears the clipboard gets the secret first, so that nothing is copied that
    /// would not be cleared. Its time begins when its input ends.
    private func copy(_ secret: SharedSecret, to clipboard: Clipboard, in session: CommandSession)
        throws(CommandFailure)
    {
        guard timeout > 0 else { return try put(secret, on: clipboard, in: session) }
        guard session.io is ProcessIO else {
            throw .parameter("only the process itself can clear the clipboard later", hint: "--timeout 0")
        }
        let clearing = try ClipboardClearing.start(
            clipboard, seconds: timeout, terminal: clipboard == .osc52 ? session.terminal : nil)
        try ClipboardClearing.send(secret, to: clearing)
        try put(secret, on: clipboard, in: session)
    }

    private func put(_ secret: SharedSecret, on clipboard: Clipboard, in session: CommandSession) throws(CommandFailure)
    {
        if clipboard == .osc52, let terminal = session.terminal {
            return try session.writeSecret(Clipboard.terminalSequence(for: secret), to: terminal)
        }
        let status: Int32
        do throws(SystemError) {
            status = try secret.withUnsafeBytes { (bytes) throws(SystemError) in
                // EXPOSE: the user asked for the secret on the clipboard.
                try ChildProcess.run(clipboard.copyCommand, input: bytes)
            }
        } catch {
            throw .status(
                KeychainError(.notAvailable, error.description, hint: "install it, or choose another way with --using"))
        }
        guard status == 0 else {
            throw .status(
                KeychainError(
                    .notAvailable, "\(clipboard.rawValue) failed with exit value \(status); nothing was copied",
                    hint: "check WAYLAND_DISPLAY and DISPLAY, or choose another way with --using"))
        }
    }
}

extension CommandSession {
    /// The output that is a terminal; nil if there is none.
    fileprivate var terminal: CommandStream? {
        if io.isOutputInteractive { return .output }
        return io.isErrorInteractive ? .error : nil
    }
}
