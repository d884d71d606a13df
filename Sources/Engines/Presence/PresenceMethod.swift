// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import LinuxSystem

/// A way to ask a person. Each is one file, with its types beside it.
///
/// A method is synchronous and may be used by several threads; ``PresenceMethods`` calls it for one
/// question of a user at a time.
public protocol PresenceMethod: Sendable {
    /// The name of the method for messages and reports: `pinentry`.
    var name: String { get }

    /// The factors that it asks for.
    var factors: Set<PresenceFactor> { get }

    /// Returns why the method cannot ask the user there; nil if it can. It displays nothing.
    func unavailability(for user: UInt32, at place: PromptPlace) -> PresenceUnavailability?

    /// Asks one question and waits for the answer.
    ///
    /// - Parameters:
    ///   - deadline: by `BootClock.system`, in nanoseconds. The method returns at most a few
    ///     seconds later.
    ///   - cancellation: ends the question when it is requested.
    func ask(_ request: PresenceRequest, until deadline: UInt64, cancellation: Cancellation) -> PresenceOutcome
}
