// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyClient
internal import LinuxSystem

/// How one command asks the person for items with an access control: at most once for everything
/// that it does, or never.
struct PersonPrompt: Sendable {
    private let isAllowed: Bool
    private let reason: String
    /// The handle is created when it is first needed.
    private let context = AuthenticationContext()
    private let hasAsked = SharedFlag()

    init(isAllowed: Bool = true, reason: String? = nil) {
        self.isAllowed = isAllowed
        self.reason = reason ?? ""
    }

    /// Performs a call. Only if it needs the person, performs it again with the context of this command. The context
    /// asks unless an earlier call did.
    ///
    /// - Throws: errSecInteractionNotAllowed if the person must be asked and may not be.
    func perform<Result>(
        _ body: (Authentication) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        do throws(KeychainError) {
            return try body(Authentication(.fail, reason: reason))
        } catch {
            guard error.authentication == .failed(.notInteractive) else { throw error }
            guard isAllowed else { throw Self.refused }
        }
        hasAsked.set()
        return try body(values())
    }

    /// Returns the values for a call that asks by itself, such as each use of a stored key. A call before the first
    /// question gets no context, because most keys do not need it.
    func values() throws(KeychainError) -> Authentication {
        guard isAllowed else { return Authentication(.fail, reason: reason) }
        guard hasAsked.isSet else { return Authentication(reason: reason) }
        return try context.authentication(prompt: AuthenticationPrompt(reason: reason))
    }

    private static var refused: KeychainError {
        .authentication(
            .notInteractive, "the item has an access control, and --no-prompt forbids the question to the person",
            hint: "repeat the command without --no-prompt, on a terminal or a display")
    }
}

/// A flag that the copies of a value share.
private final class SharedFlag: Sendable {
    private let state = SystemMutex(false)
    var isSet: Bool { state.withLock { $0 } }
    func set() { state.withLock { $0 = true } }
}

// MARK: Options

extension CommandOption {
    /// The options about prompts for macOS's commands.
    static let prompt = [
        CommandOption("--no-prompt", help: "fail with 36 instead of asking the person (Latchkey's addition)"),
        CommandOption(
            "--prompt", .required("reason"), help: "the reason that the prompt shows (Latchkey's addition)"),
    ]
}

extension PersonPrompt {
    /// Reads the options of one of macOS's commands, or of a daily command.
    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        let reason = try arguments.text("--prompt")
        guard !arguments.contains("--no-prompt") || reason == nil else {
            throw .usage(PromptOptions.exclusion)
        }
        self.init(isAllowed: !arguments.contains("--no-prompt"), reason: reason)
    }
}

/// The same options for Latchkey's own commands.
struct PromptOptions: ParsableArguments {
    @Flag(help: ArgumentHelp(noPromptHelp))
    var noPrompt = false

    @Option(help: ArgumentHelp(promptHelp, valueName: "reason"))
    var prompt: String?

    func validate() throws {
        if noPrompt, prompt != nil { throw ValidationError(Self.exclusion) }
    }

    var person: PersonPrompt { PersonPrompt(isAllowed: !noPrompt, reason: prompt) }

    /// The same options for daily commands.
    static let options = [
        CommandOption("--no-prompt", help: noPromptHelp),
        CommandOption("--prompt", .required("reason"), help: promptHelp),
    ]

    fileprivate static let exclusion = "--no-prompt and --prompt exclude each other"
    private static let noPromptHelp = "Fail with 36 if an item with an access control needs the person."
    private static let promptHelp = "The reason that the prompt for such an item shows."
}
