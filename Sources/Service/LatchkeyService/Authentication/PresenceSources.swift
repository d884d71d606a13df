// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import LinuxSystem
public import Presence

/// How a service can establish that the person is present.
public struct PresenceSources: Sendable {
    /// The ways to ask for a passcode, a password or a PIN.
    public var methods: PresenceMethods
    /// nil in programs that open the keychain themselves: such a process has the keys of the
    /// keychain, so that a match of a finger would protect nothing.
    public var biometry: (any Biometry)?
    /// nil in programs that are not linked with libfido2: all but latchkeyd and the command
    /// `latchkey`.
    public var securityKeys: (any SecurityKeyAccess)?
    /// How long one question waits for an answer.
    public var timeout: PromptTimeout
    let securityKeyTurns = SecurityKeyTurns()

    public init(
        methods: PresenceMethods = PresenceMethods(), biometry: (any Biometry)? = nil,
        securityKeys: (any SecurityKeyAccess)? = nil, timeout: PromptTimeout = .standard
    ) {
        self.methods = methods
        self.biometry = biometry
        self.securityKeys = securityKeys
        self.timeout = timeout
    }
}

/// Recognizes the person by a sensor.
public protocol Biometry: Sendable {
    /// Returns whether biometry can be used for a user. It displays nothing.
    func state(of user: UInt32) -> PresenceStatus.Biometry

    /// Returns the current set of a user; nil if nothing is enrolled.
    func enrolledSet(of user: UInt32) throws(KeychainError) -> EnrolledSet?

    /// Waits until the sensor recognizes the person.
    ///
    /// - Parameters:
    ///   - deadline: by `BootClock.system`, in nanoseconds.
    ///   - cancellation: ends the question when it is requested.
    ///   - onMiss: called when the sensor has read something that is not enrolled, and reads again.
    /// - Returns: ``PresenceOutcome/recognized(_:)``, or why not: denied after too many misses,
    ///   cancelled, timedOut, or unavailable.
    func recognize(
        _ user: UInt32, until deadline: UInt64, cancellation: Cancellation, onMiss: () -> Void
    ) -> PresenceOutcome

    /// Ends a lock-out of a user, because the passcode was verified.
    func passcodeWasVerified(of user: UInt32)
}

/// The derivations and the cancellation that an evaluation needs from its process.
public protocol EvaluationHost: Sendable {
    /// Runs a key derivation, within the limits of the process.
    func derive<Value: Sendable>(
        _ body: @escaping @Sendable () throws(KeychainError) -> Value
    ) throws(KeychainError) -> Value

    /// Requested when the result is no longer needed.
    var cancellation: Cancellation { get }
}

/// A process that evaluates for itself.
public struct LocalEvaluationHost: EvaluationHost {
    public let cancellation = Cancellation.current ?? Cancellation()

    public init() {}

    public func derive<Value: Sendable>(
        _ body: @escaping @Sendable () throws(KeychainError) -> Value
    ) throws(KeychainError) -> Value {
        try body()
    }
}
