// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// Whether a finger can be verified.
public enum FingerprintAvailability: Hashable, Sendable {
    /// A reader is connected and a finger is enrolled.
    ///
    /// - Parameter source: the data from which the enrolled set is made. It determines the changes that are noticed.
    case available(EnrolledSet.Source)
    case unavailable(FingerprintError)

    /// Whether a reader is connected, even if it cannot be used now (`LAContext.biometryType`).
    public var hasReader: Bool {
        switch self {
        case .available, .unavailable(.notEnrolled), .unavailable(.lockedOut), .unavailable(.unknownSet): true
        case .unavailable: false
        }
    }
}
