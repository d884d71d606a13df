// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// One question to one running pinentry. The program ends with the conversation.
///
/// The external password cache is never offered: neither `SETKEYINFO` nor the option
/// `allow-external-password-cache` is sent.
struct PinentryConversation: ~Copyable {
    private let program: ConversationProcess
    private var reader = AssuanReader()
    private let deadline: UInt64
    private let cancellation: Cancellation
    /// The path of the program, and whether Ctrl-C on the terminal ends it.
    private let origin: (path: String, isForeground: Bool)

    /// Starts the program.
    ///
    /// - Parameter deadline: by `BootClock.system`, in nanoseconds.
    init(
        _ program: PinentryProgram, environment: PinentryEnvironment, startsSession: Bool, until deadline: UInt64,
        cancellation: Cancellation
    ) throws(PinentryError) {
        do throws(SystemError) {
            self.program = try ConversationProcess(
                executable: program.path, environment: environment.entries, startsSession: startsSession)
        } catch {
            throw .system(error)
        }
        // The program's own timeout comes first, because it restores the terminal.
        self.deadline = min(deadline, .max - Self.gracePeriod) + Self.gracePeriod
        self.cancellation = cancellation
        origin = (program.path, !startsSession)
    }

    /// Asks the question.
    ///
    /// - Throws: if the question was not displayed, so that another program may display it.
    mutating func ask(_ request: PresenceRequest, at place: PromptPlace) throws(PinentryError) -> PresenceOutcome {
        let text = PromptText(request)
        _ = try reply()
        try describePlace(place)
        try show(text)
        if let error = text.error { try send("SETERROR", error) }
        do throws(PinentryError) {
            return try answer(request.factor, text)
        } catch {
            guard !error.isBeforeDisplay else { throw error }
            return error.outcome(of: origin.path, isForeground: origin.isForeground)
        }
    }

    private mutating func answer(_ factor: PresenceFactor, _ text: PromptText) throws(PinentryError) -> PresenceOutcome
    {
        guard factor.isSecret else {
            try send("CONFIRM", text.isOnlyCancelled ? "--one-button" : "")
            // A finger or a key is not shown to this program: its buttons only end the question.
            if text.isOnlyCancelled { return .cancelled }
            return factor == .fingerprint ? .fallback : .confirmed(nil)
        }
        try send("SETPROMPT", text.prompt)
        let secret = factor == .newApplicationPassword ? try newSecret(text.prompt) : try entry().secret
        return secret.count > 0 ? .confirmed(secret) : .denied
    }

    // MARK: The question

    private mutating func describePlace(_ place: PromptPlace) throws(PinentryError) {
        if let terminal = place[.terminal] {
            try send("OPTION", "ttyname=\(terminal)")
            if let type = place[.terminalType] { try send("OPTION", "ttytype=\(type)") }
        }
        try offer("OPTION", "lc-ctype=C.UTF-8")
        let now = BootClock.system.now()
        let left = deadline > now &+ Self.gracePeriod ? deadline &- now &- Self.gracePeriod : 0
        try offer("SETTIMEOUT", "\(min(left / 1_000_000_000 + 1, Self.maxTimeout))")
    }

    private mutating func show(_ text: PromptText) throws(PinentryError) {
        try offer("SETTITLE", text.title)
        // Without its text the question is not asked.
        try send("SETDESC", text.description)
        try offer("SETOK", Self.label(text.isOnlyCancelled ? text.cancel ?? "Cancel" : text.accept))
        if let deny = text.deny { try offer("SETNOTOK", Self.label(deny)) }
        if let cancel = text.cancel, !text.isOnlyCancelled { try offer("SETCANCEL", Self.label(cancel)) }
    }

    /// The text of a button: the program takes the character after an underscore for its key.
    private static func label(_ text: String) -> String {
        text.split(separator: "_", omittingEmptySubsequences: false).joined(separator: "__")
    }

    /// Asks for a new secret twice, if the program does not do so itself, until both entries are
    /// equal.
    private mutating func newSecret(_ prompt: String) throws(PinentryError) -> SharedSecret {
        try offer("SETREPEATERROR", "The two entries differ.")
        for _ in 0..<Self.maxEntries {
            try send("SETPROMPT", prompt)
            try offer("SETREPEAT", "Repeat it:")
            let first = try entry()
            guard !first.isRepeated, first.secret.count > 0 else { return first.secret }
            try send("SETPROMPT", "Repeat it:")
            guard try entry().secret != first.secret else { return first.secret }
            try send("SETERROR", "The two entries differ.")
        }
        throw .refused(.notConfirmed, text: "the entries differ")
    }

    /// Returns the text that the person types, and whether the person typed it twice.
    private mutating func entry() throws(PinentryError) -> (secret: SharedSecret, isRepeated: Bool) {
        try write(AssuanCommand("GETPIN"))
        return try reply()
    }

    // MARK: Lines

    /// Sends a command that must succeed.
    private mutating func send(_ name: StaticString, _ argument: String = "") throws(PinentryError) {
        try write(AssuanCommand(name, argument))
        guard try reply().secret.count == 0 else { throw .unexpected("it sent data that was not requested") }
    }

    /// Sends a command that a program may not know.
    private mutating func offer(_ name: StaticString, _ argument: String) throws(PinentryError) {
        do throws(PinentryError) {
            try send(name, argument)
        } catch .refused {
            return
        } catch {
            throw error
        }
    }

    private func write(_ command: AssuanCommand) throws(PinentryError) {
        var failure: SystemError?
        command.line.withUnsafeBytes { bytes in
            do throws(SystemError) {
                try program.write(bytes, until: deadline, cancellation: cancellation)
            } catch {
                failure = error
            }
        }
        if let failure { throw .system(failure) }
    }

    /// Reads lines until the command has succeeded or failed.
    private mutating func reply() throws(PinentryError) -> (secret: SharedSecret, isRepeated: Bool) {
        var secret = AssuanSecret()
        var isRepeated = false
        while try !readLine(&secret, &isRepeated) {}
        return (try secret.end(), isRepeated)
    }

    /// - Returns: whether the line was the last one.
    private mutating func readLine(_ secret: inout AssuanSecret, _ isRepeated: inout Bool) throws(PinentryError) -> Bool
    {
        try reader.withNextLine(
            read: { (memory) throws(PinentryError) in
                do throws(SystemError) {
                    return try program.read(into: memory, until: deadline, cancellation: cancellation)
                } catch {
                    throw .system(error)
                }
            },
            body: { (line) throws(PinentryError) in
                guard let line = AssuanLine(line) else {
                    throw .unexpected("it wrote a line that is not of its protocol")
                }
                switch line {
                case .ok: return true
                case .error(let code, let text): throw .refused(code, text: text)
                case .data(let data): try secret.append(data)
                case .entryRepeated: isRepeated = true
                case .remark: break
                }
                return false
            })
    }

    /// The time that the program has to react to its own timeout, in nanoseconds.
    private static let gracePeriod: UInt64 = 2_000_000_000
    /// The longest timeout that the program is told, in seconds.
    private static let maxTimeout: UInt64 = 86_400
    /// How often a new secret is asked for if its two entries differ.
    private static let maxEntries = 3
}
