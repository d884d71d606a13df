// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import LinuxSystem
public import SecretMemory
public import SystemBus

/// One question for a person.
public struct SecretQuestion: Sendable {
    /// The answer that is asked for.
    public enum Kind: Hashable, Sendable {
        case passcode
        /// A new passcode, typed twice.
        case newPasscode
        /// Whether a program may read items.
        case consent(ConsentSubject)
    }

    public var kind: Kind
    /// The label of the collection, or of the first item.
    public var label: String
    /// The program that needs it. On a session bus, it could be any program of the user.
    public var program: CallerIdentity
    /// The window of the program, as the program states it; empty for none.
    public var window: String
    /// How many answers remain after a wrong one; nil for the first time.
    public var attemptsLeft: Int?

    public init(
        _ kind: Kind, label: String, program: CallerIdentity, window: String = "", attemptsLeft: Int? = nil
    ) {
        self.kind = kind
        self.label = label
        self.program = program
        self.window = window
        self.attemptsLeft = attemptsLeft
    }
}

/// The answer to a question.
public enum SecretAnswer: Sendable {
    /// The text that the person typed. It is not verified.
    case typed(SharedSecret)
    /// The program may read the items, for good or as long as it is connected.
    case allowed(isKept: Bool)
    case cancelled
    case timedOut
    /// The person cannot be asked in this way.
    case unavailable(reason: String, hint: String)
}

/// A way to ask the person.
public enum SecretAsker: Sendable {
    /// The prompter of GNOME; it draws over the whole screen.
    case desktop(DesktopPrompter)
    /// A program of the pinentry family, on the display or the terminal of this process.
    case pinentry(PinentryAsker)
    /// A function; for tests.
    case custom(@Sendable (SecretQuestion, Cancellation) -> SecretAnswer)

    func ask(_ question: SecretQuestion, cancellation: Cancellation) -> SecretAnswer {
        switch self {
        case .desktop(let prompter): prompter.ask(question, cancellation: cancellation)
        case .pinentry(let asker): asker.ask(question, cancellation: cancellation)
        case .custom(let body): body(question, cancellation)
        }
    }

    /// Returns the ways that this process has, the best first. The use of a way shows whether it works: desktops come
    /// and go.
    ///
    /// - Parameter terminal: the terminal for pinentry; nil for that of this process.
    public static func all(on bus: BusConnection, terminal: String? = nil) -> [SecretAsker] {
        [.desktop(DesktopPrompter(bus)), .pinentry(PinentryAsker(terminal: terminal))]
    }
}

extension [SecretAsker] {
    /// Asks in the first way that is available.
    func ask(_ question: SecretQuestion, cancellation: Cancellation) -> SecretAnswer {
        var reasons: [String] = []
        for asker in self {
            let answer = asker.ask(question, cancellation: cancellation)
            guard case .unavailable(let reason, _) = answer, !cancellation.isCancelled else { return answer }
            reasons.append(reason)
        }
        let reason = reasons.isEmpty ? "no way to ask is configured" : reasons.joined(separator: "; ")
        return .unavailable(reason: reason, hint: "latchkey unlock")
    }
}
