// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import LinuxSystem

/// The ways to ask a person that this process has, best first.
public final class PresenceMethods: Sendable {
    private let methods: [any PresenceMethod]
    private let gate: PromptGate

    /// - Parameter gate: shared by everything that asks persons in this process.
    public init(_ methods: [any PresenceMethod] = [Pinentry()], gate: PromptGate = PromptGate()) {
        self.methods = methods
        self.gate = gate
    }

    /// Asks one question and waits for the answer. A secret in it is not verified.
    ///
    /// - Parameters:
    ///   - deadline: by `BootClock.system`, in nanoseconds. The answer comes at most a few seconds
    ///     later.
    ///   - cancellation: ends the question, for example when the client has disconnected.
    /// - Returns: ``PresenceOutcome/unavailable(_:)`` at once if the person cannot be asked.
    public func ask(_ request: PresenceRequest, until deadline: UInt64, cancellation: Cancellation) -> PresenceOutcome {
        do throws(PresenceUnavailability) {
            let method = try method(for: request.factor, of: request.user, at: request.place)
            return gate.ask(request, until: deadline, cancellation: cancellation) {
                method.ask(request, until: deadline, cancellation: cancellation)
            }
        } catch {
            return .unavailable(error)
        }
    }

    /// Displays one question while a sensor or a security key of this process waits for the person.
    ///
    /// - Parameters:
    ///   - deadline: by `BootClock.system`, in nanoseconds.
    ///   - sensor: called while the question is displayed: waits for the person, and returns the
    ///     answer soon after the cancellation of the prompt.
    /// - Returns: the person's choice in the display, otherwise the answer of the sensor;
    ///   ``PresenceOutcome/unavailable(_:)`` at once if the person cannot be asked.
    public func ask(
        _ request: PresenceRequest, until deadline: UInt64, cancellation: Cancellation,
        sensor: (SensorPrompt) -> PresenceOutcome
    ) -> PresenceOutcome {
        do throws(PresenceUnavailability) {
            let method = try method(for: request.factor, of: request.user, at: request.place)
            return gate.ask(request, until: deadline, cancellation: cancellation) {
                let prompt = SensorPrompt(request, cancellation: cancellation) { request, ending in
                    method.ask(request, until: deadline, cancellation: ending)
                }
                let answer = sensor(prompt)
                return prompt.close() ?? answer
            }
        } catch {
            return .unavailable(error)
        }
    }

    /// Returns why the user cannot be asked there for the factor; nil if a method is available. It
    /// displays nothing.
    public func unavailability(of factor: PresenceFactor, for user: UInt32, at place: PromptPlace)
        -> PresenceUnavailability?
    {
        do throws(PresenceUnavailability) {
            _ = try method(for: factor, of: user, at: place)
            return nil
        } catch {
            return error
        }
    }

    /// Returns every method with its state, for `latchkey status`.
    public func report(for user: UInt32, at place: PromptPlace) -> [PresenceMethodReport] {
        methods.map { method in
            PresenceMethodReport(
                name: method.name, factors: PresenceFactor.allCases.filter(method.factors.contains),
                unavailability: method.unavailability(for: user, at: place))
        }
    }

    /// The first available method; otherwise the reason of the first one that has the factor.
    private func method(for factor: PresenceFactor, of user: UInt32, at place: PromptPlace)
        throws(PresenceUnavailability) -> any PresenceMethod
    {
        var reason: PresenceUnavailability?
        for method in methods where method.factors.contains(factor) {
            guard let found = method.unavailability(for: user, at: place) else { return method }
            reason = reason ?? found
        }
        throw reason ?? .noMethod(factor)
    }
}

/// The state of one method.
public struct PresenceMethodReport: Sendable, Hashable {
    /// The name of the method: `pinentry`.
    public let name: String
    /// The factors that it asks for, in the order of ``PresenceFactor``.
    public let factors: [PresenceFactor]
    /// Why it cannot ask; nil if it can.
    public let unavailability: PresenceUnavailability?

    public var isAvailable: Bool { unavailability == nil }
}
