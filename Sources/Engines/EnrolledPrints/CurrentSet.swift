// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// The enrolled set at this moment, and which changes its digest shows.
public struct CurrentSet: Hashable, Sendable {
    public let set: EnrolledSet
    public let strength: Strength

    /// What the digest depends on.
    public enum Strength: Hashable, Sendable {
        /// The prints that fprintd stores.
        case storedPrints
        /// Only the names of the fingers, which is weaker: a finger that is deleted and enrolled
        /// again under its name, also of another person, is not noticed.
        case fingerNames
    }

    public init(_ set: EnrolledSet, _ strength: Strength) {
        self.set = set
        self.strength = strength
    }
}
