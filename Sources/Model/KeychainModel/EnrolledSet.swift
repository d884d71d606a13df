// SPDX-License-Identifier: Apache-2.0

/// Identifies the biometry that is enrolled at one time. It changes when a finger is added or
/// removed.
public struct EnrolledSet: Hashable, Sendable {
    /// 32 bytes.
    public let digest: [UInt8]
    /// The data from which the digest was made. Sets of different sources cannot be compared: a difference does not
    /// mean that a finger was added or removed.
    public let source: Source

    /// The data from which a digest is made. The raw value is part of the database format.
    public enum Source: UInt8, Sendable, CaseIterable {
        /// The stored templates.
        case storedPrints = 1
        /// Only the names of the fingers. This is weaker, because it misses a finger that is enrolled again under its
        /// name, also a finger of another person.
        case fingerNames = 2
    }

    /// Creates a set from its digest; nil unless it has ``digestLength`` bytes.
    public init?(digest: [UInt8], source: Source = .storedPrints) {
        guard digest.count == Self.digestLength else { return nil }
        self.digest = digest
        self.source = source
    }

    /// The length of a digest in bytes.
    public static let digestLength = 32
}

/// The proof that a biometric sensor has just recognized the person, for one question: for the evaluation that asked
/// it, and for evaluations that waited for the answer with equal questions.
///
/// Nothing in this type proves the match: only the module that heard it from the sensor may create
/// one.
public struct BiometricMatch: Hashable, Sendable {
    /// The enrolled set when the person was recognized.
    public let enrolledSet: EnrolledSet

    /// Creates the proof. Call it only directly after the sensor has reported a match.
    public init(recognizedAgainst enrolledSet: EnrolledSet) { self.enrolledSet = enrolledSet }
}
