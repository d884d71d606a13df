// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import LinuxSystem

/// Why a person cannot be asked.
public enum PresenceUnavailability: Error, Sendable, Hashable {
    /// The program has neither a terminal nor a display, as a service does.
    ///
    /// - Parameter ignored: the values that the program sent, and that are not well-formed.
    case noPlace(ignored: [PromptVariable])
    /// The terminal cannot be used; the text says why.
    case unusableTerminal(path: String, reason: String)
    /// No program that can ask there is installed.
    ///
    /// - Parameter searched: the names of the programs.
    case noProgram(searched: [String])
    /// The program that asks did not behave as expected; the text says how.
    case programFailed(path: String, reason: String)
    /// No method for this factor exists here.
    case noMethod(PresenceFactor)
    /// The keychain belongs to another user than the process that would ask.
    case otherUser(UInt32)
    /// Too many questions are waiting for an answer.
    case tooManyQuestions(limit: Int)
    /// No agent of the user is connected to the system's latchkeyd. latchkeyd itself has neither a terminal nor a
    /// display.
    case noAgent
    /// The agent could not ask. The texts are its own.
    case agentFailed(problem: String, hint: String)
    /// No fingerprint reader can be used.
    ///
    /// - Parameters:
    ///   - reason: the problem, as a sentence.
    ///   - hint: the command or action that helps the user.
    case noFingerprintReader(reason: String, hint: String)
    /// No finger of the user is enrolled.
    case biometryNotEnrolled
    /// Too many fingers in sequence were not recognized; the passcode unlocks biometry.
    case biometryLocked

    /// The problem, as a sentence with printable text.
    public var problem: String {
        switch self {
        case .noPlace(let ignored):
            ignored.isEmpty
                ? "the program has no terminal and no display to ask a person"
                : "the program has no usable terminal or display: \(Self.expectations(of: ignored))"
        case .unusableTerminal(let path, let reason):
            "the terminal \(PrintableText(path)) cannot be used: \(PrintableText(reason))"
        case .noProgram(let searched): "no program that prompts is installed (searched: \(Self.list(searched)))"
        case .programFailed(let path, let reason): "\(PrintableText(path)) failed: \(PrintableText(reason))"
        case .noMethod(let factor): "no method that asks for \(factor.name) is available"
        case .otherUser(let user): "this process cannot ask user \(user)"
        case .tooManyQuestions(let limit): "\(limit) questions are already waiting for an answer"
        case .noAgent: "no agent of the user is running to ask the person for the system's latchkeyd"
        case .agentFailed(let problem, _): PrintableText(problem).string
        case .noFingerprintReader(let reason, _): PrintableText(reason).string
        case .biometryNotEnrolled: "no finger is enrolled"
        case .biometryLocked: "fingerprints are locked, because too many in sequence were not recognized"
        }
    }

    /// The command or action that helps the user.
    public var hint: String {
        switch self {
        case .noPlace: "run the program on a terminal or in a graphical session"
        case .unusableTerminal: "run the program on a terminal that belongs to you, for example with `su --pty`"
        case .noProgram(let searched):
            searched.contains("pinentry-gnome3")
                ? "apt install pinentry-gnome3" : "apt install pinentry-curses"
        case .programFailed: "install another pinentry: apt install pinentry-curses"
        case .noMethod: "latchkey status shows the methods that are available"
        case .otherUser: "use the keychain as its own user"
        case .tooManyQuestions: "answer or cancel the open questions"
        case .noAgent: "systemctl --user enable --now latchkey-agent, or in a session of the user: latchkey agent"
        case .agentFailed(_, let hint): PrintableText(hint).string
        case .noFingerprintReader(_, let hint): PrintableText(hint).string
        case .biometryNotEnrolled: "fprintd-enroll"
        case .biometryLocked: "latchkey unlock (asks for the passcode)"
        }
    }

    private static func expectations(of variables: [PromptVariable]) -> String {
        variables.map { "\($0.rawValue) must be \($0.expectation)" }.joined(separator: ", ")
    }

    private static func list(_ names: [String]) -> String {
        names.map { PrintableText($0).string }.joined(separator: ", ")
    }
}

// MARK: CustomStringConvertible

extension PresenceUnavailability: CustomStringConvertible {
    public var description: String { problem }
}
