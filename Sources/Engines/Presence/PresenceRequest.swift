// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// One question for a person: the factor, the program and item, the reason, and the place.
///
/// Labels, reasons and identities are untrusted text of any length; ``PromptText`` makes them
/// printable and shortens them.
public struct PresenceRequest: Sendable, Hashable {
    /// The factor that the person is asked for.
    public var factor: PresenceFactor
    /// The user of the keychain.
    public var user: UInt32
    /// The program that caused the question, with its sandbox and its claims. If another process asks, such as an agent
    /// in the user's session, it is still this program, as the service has identified it.
    public var program: CallerIdentity
    /// The subject that the answer opens.
    public var subject: Subject
    /// The reason that the program states, such as an `LAContext`'s `localizedReason`; empty for
    /// none.
    public var reason: String
    /// The program's text of the button that cancels; nil for the usual one.
    public var cancelTitle: String?
    /// The text of the button that takes something else instead of a finger; nil to offer none.
    public var fallbackTitle: String?
    /// The terminal and the display of the program.
    public var place: PromptPlace
    /// Why the question is asked again; nil for the first time.
    public var previousFailure: PreviousFailure?
    /// The words of a confirmation instead of the usual ones; nil for the usual ones.
    public var words: ConfirmationWords?

    /// A subject that an answer opens.
    public enum Subject: Sendable, Hashable {
        /// An item.
        ///
        /// - Parameters:
        ///   - label: the text that identifies it to the person.
        ///   - identifier: distinguishes it from other items with the same label.
        case item(label: String, identifier: String)
        /// The keychain as a whole.
        case keychain
    }

    /// Why the previous answer was not accepted.
    public enum PreviousFailure: Sendable, Hashable {
        /// The secret was wrong.
        ///
        /// - Parameter attemptsLeft: how many answers remain, this one included.
        case wrongSecret(attemptsLeft: Int)
        /// The finger was not an enrolled one.
        case notRecognized
        /// The two entries of a new password differed.
        case entriesDiffer
    }

    public init(
        _ factor: PresenceFactor, user: UInt32, program: CallerIdentity, subject: Subject, reason: String = "",
        cancelTitle: String? = nil, fallbackTitle: String? = nil, place: PromptPlace,
        previousFailure: PreviousFailure? = nil
    ) {
        self.factor = factor
        self.user = user
        self.program = program
        self.subject = subject
        self.reason = reason
        self.cancelTitle = cancelTitle
        self.fallbackTitle = fallbackTitle
        self.place = place
        self.previousFailure = previousFailure
    }
}

/// The words of a confirmation: fixed texts of Latchkey, never of a program or an item.
public struct ConfirmationWords: Sendable, Hashable {
    /// One line.
    public var question: String
    /// Lines below the program and the item.
    public var notes: [String]
    /// The text of the button that says yes.
    public var accept: String
    /// The text of the button that says no.
    public var deny: String

    public init(question: String, notes: [String], accept: String, deny: String) {
        self.question = question
        self.notes = notes
        self.accept = accept
        self.deny = deny
    }
}
