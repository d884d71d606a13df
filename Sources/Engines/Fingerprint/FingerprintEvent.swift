// SPDX-License-Identifier: Apache-2.0

/// An event that the person should know about while a finger is verified.
public enum FingerprintEvent: Hashable, Sendable {
    /// The reader waits for a finger.
    case waiting
    /// The scan could not be used. It does not count as a miss.
    case problem(ScanProblem)
    /// The finger is not an enrolled one.
    case miss
}
