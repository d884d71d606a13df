// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// The result of one question.
public enum PresenceOutcome: Sendable, Equatable {
    /// The person answered.
    ///
    /// - Parameter secret: the typed text, UTF-8 and never empty; nil for a factor without a secret. It is not
    ///   verified.
    case confirmed(SharedSecret?)
    /// A sensor of this process recognized the person.
    case recognized(BiometricMatch)
    /// The person chose the alternative to a finger that the question offers.
    case fallback
    /// The person said no, entered nothing, or showed a finger that is not an enrolled one.
    case denied
    /// The person cancelled the question, or the program that caused it has gone.
    case cancelled
    /// No answer came before the deadline.
    case timedOut
    /// The question could not be asked.
    case unavailable(PresenceUnavailability)
}
