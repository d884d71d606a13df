// SPDX-License-Identifier: Apache-2.0

/// How the person can be asked on this machine, for one program.
public struct PresenceStatus: Sendable, Equatable {
    /// Every method, best first.
    public var methods: [Method]
    /// Whether the keychain has a passcode.
    public var hasPasscode: Bool
    /// Whether biometry can be used.
    public var biometry: Biometry
    /// The identity of the enrolled biometry; nil if nothing is enrolled. It changes with the enrolled biometry.
    public var enrolledSet: EnrolledSet?
    /// The number of enrolled security keys.
    public var securityKeys: Int

    /// One way to ask the person.
    public struct Method: Sendable, Hashable {
        /// The name: `pinentry`.
        public var name: String
        /// The factors that it asks for, in words: `the passcode`.
        public var factors: [String]
        /// Why it cannot ask; nil if it can.
        public var problem: String?
        /// The action that solves the problem, for the user.
        public var hint: String?

        /// Creates the status of a method.
        public init(name: String, factors: [String], problem: String? = nil, hint: String? = nil) {
            self.name = name
            self.factors = factors
            self.problem = problem
            self.hint = hint
        }
    }

    /// Whether biometry can be used, as far as is known without asking the person.
    public enum Biometry: UInt8, Sendable, CaseIterable {
        /// There is no sensor, or this process cannot use it.
        case notAvailable = 0
        /// There is a sensor, but nothing is enrolled.
        case notEnrolled = 1
        /// Too many misses; the passcode unlocks it.
        case lockedOut = 2
        /// Biometry can be used.
        case available = 3
        /// There is a sensor, but a match would prove nothing until the passcode is given: the key of
        /// biometry is held only from an unlock with the passcode to the lock.
        case needsPasscode = 4
    }

    /// Creates a status.
    public init(
        methods: [Method] = [], hasPasscode: Bool, biometry: Biometry = .notAvailable, enrolledSet: EnrolledSet? = nil,
        securityKeys: Int = 0
    ) {
        self.methods = methods
        self.hasPasscode = hasPasscode
        self.biometry = biometry
        self.enrolledSet = enrolledSet
        self.securityKeys = securityKeys
    }
}
