// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// The words of one question, as a person reads them.
///
/// Text of programs and items stands on one line each, between quotation marks, below the facts
/// that the service has established; it is printable and has a maximum length. Nothing in it can
/// look like a line of ours, or move, hide or color text on a terminal.
public struct PromptText: Sendable, Hashable {
    /// The title of a window. Terminals do not show it.
    public let title: String
    /// The question, the program, the item and the reason, in lines.
    public let description: String
    /// The text before the field for a secret; empty if none is typed.
    public let prompt: String
    /// Why a secret is asked for again; nil for the first time, and where the description says it.
    public let error: String?
    /// The text of the button that accepts.
    public let accept: String
    /// The text of the button that says no; nil if the question is only cancelled.
    public let deny: String?
    /// The text of the button that cancels; nil for that of the program that prompts.
    public let cancel: String?
    /// Whether there is no button but the one that cancels.
    public let isOnlyCancelled: Bool

    public init(_ request: PresenceRequest) {
        title = "Latchkey"
        let failure = request.previousFailure.map { Self.error($0, request.factor) }
        // Where no secret is typed, not every program shows an error.
        var lines = request.factor.isSecret ? [] : failure.map { [$0, ""] } ?? []
        let words = request.factor == .confirmation ? request.words : nil
        lines += [words?.question ?? Self.question(request), ""]
        lines += Self.program(request.program)
        if case .item(let label, _) = request.subject { lines.append("Item: \(Self.quoted(label, .label))") }
        if !request.reason.isEmpty {
            lines.append("Reason, as the program states it: \(Self.quoted(request.reason, .reason))")
        }
        if let words, !words.notes.isEmpty { lines += [""] + words.notes }
        description = lines.joined(separator: "\n")
        prompt = Self.prompt(request.factor)
        error = request.factor.isSecret ? failure : nil
        deny = request.factor == .confirmation ? words?.deny ?? "Deny" : nil
        cancel = request.cancelTitle.flatMap(Self.button)
        isOnlyCancelled =
            request.factor == .securityKey || request.factor == .fingerprint && request.fallbackTitle == nil
        accept =
            switch request.factor {
            case .confirmation: words?.accept ?? "Allow"
            case .fingerprint: request.fallbackTitle.flatMap(Self.button) ?? "Passcode"
            default: "OK"
            }
    }

    // MARK: Lines

    private static func question(_ request: PresenceRequest) -> String {
        let use = request.subject == .keychain ? "to use your keychain" : "to use an item of your keychain"
        return switch request.factor {
        case .passcode: "Latchkey: a program needs your keychain's passcode \(use)."
        case .applicationPassword: "Latchkey: a program needs the item's password \(use)."
        case .newApplicationPassword: "Latchkey: choose a password for a new item of your keychain."
        case .confirmation: "Latchkey: a program asks for your permission \(use)."
        case .fingerprint: "Latchkey: touch the fingerprint reader. A program needs it \(use)."
        case .securityKey: "Latchkey: touch your security key. A program needs it \(use)."
        case .securityKeyPIN: "Latchkey: a program needs the PIN of your security key \(use)."
        }
    }

    private static func program(_ program: CallerIdentity) -> [String] {
        let process = program.process.map { " (process \($0.process))" } ?? ""
        var lines = ["Program: \(quoted(program.executable, .path))\(process)"]
        if let group = program.attestedGroups?.first {
            lines.append("Identity: \(quoted(group, .name)), attested by the system")
        } else if let group = program.declaredGroups?.first {
            lines.append("Identity: \(quoted(group, .name)), claimed by the program and not proven")
        }
        switch program.sandbox {
        case .application(let group)?: lines.append("Sandbox: \(quoted(group, .name))")
        case .unidentified?: lines.append("Sandbox: yes, of an unknown application")
        case nil: break
        }
        return lines
    }

    private static func prompt(_ factor: PresenceFactor) -> String {
        switch factor {
        case .passcode: "Passcode of the keychain:"
        case .applicationPassword: "Password:"
        case .newApplicationPassword: "New password:"
        case .securityKeyPIN: "PIN of the security key:"
        case .confirmation, .fingerprint, .securityKey: ""
        }
    }

    private static func error(_ failure: PresenceRequest.PreviousFailure, _ factor: PresenceFactor) -> String {
        switch failure {
        case .entriesDiffer: return "The two entries differ."
        case .notRecognized: return "The finger was not recognized."
        case .wrongSecret(let left):
            let secret =
                switch factor {
                case .passcode: "passcode"
                case .securityKeyPIN: "PIN"
                default: "password"
                }
            let rest = left > 1 ? "\(left) attempts are left." : "This is the last attempt."
            return "The \(secret) is wrong. \(rest)"
        }
    }

    // MARK: Untrusted text

    /// The maximum length of a kind of text, in bytes of its printable form.
    ///
    /// All of them together fit into one line of the protocol of pinentry, and into a terminal of
    /// 24 lines and 80 columns.
    private enum Limit: Int {
        case path = 150
        case name = 60
        case label = 100
        case reason = 140
        case button = 24
    }

    /// A text on a button; nil if it is empty.
    private static func button(_ text: String) -> String? {
        text.isEmpty ? nil : ShortText(text, maxLength: Limit.button.rawValue).string
    }

    private static func quoted(_ text: String, _ limit: Limit) -> String {
        "“\(ShortText(text, maxLength: limit.rawValue, keepsEnd: limit == .path).string)”"
    }
}
