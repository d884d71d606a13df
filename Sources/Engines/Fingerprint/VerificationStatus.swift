// SPDX-License-Identifier: Apache-2.0

/// One status of a verification, as fprintd's signal VerifyStatus reports it.
enum VerificationStatus: Hashable, Sendable {
    /// An enrolled finger of the user was recognized. It is the last status.
    case match
    /// A finger was read, and it is not an enrolled one. It is the last status.
    case noMatch
    /// The scan cannot be used. The verification continues unless it is the last status.
    case retry(ScanProblem, isLast: Bool)
    /// The reader was disconnected.
    case disconnected
    /// The reader failed.
    case readerError

    /// - Parameter isDone: the second value of the signal: whether the verification has ended.
    /// - Throws: ``FingerprintError/failed(_:)`` for another name, and for a match that is not the
    ///   last status.
    init(parsing name: String, isDone: Bool) throws(FingerprintError) {
        switch (name, isDone) {
        case ("verify-match", true): self = .match
        case ("verify-no-match", _): self = .noMatch
        case ("verify-disconnected", _): self = .disconnected
        case ("verify-unknown-error", _): self = .readerError
        default:
            guard let problem = ScanProblem(rawValue: name) else {
                throw .failed("expected a status of a verification, found “\(name)” (last status: \(isDone))")
            }
            self = .retry(problem, isLast: isDone)
        }
    }
}

/// Why a scan cannot be used. It does not count as a miss.
public enum ScanProblem: String, Hashable, Sendable, CaseIterable {
    case unusable = "verify-retry-scan"
    case swipeTooShort = "verify-swipe-too-short"
    case fingerNotCentered = "verify-finger-not-centered"
    case fingerNotRemoved = "verify-remove-and-retry"

    /// The advice to the person.
    public var advice: String {
        switch self {
        case .unusable: "Scan the finger again."
        case .swipeTooShort: "The swipe was too short: swipe the finger again."
        case .fingerNotCentered: "The finger was not centered: scan it again."
        case .fingerNotRemoved: "Remove the finger, and scan it again."
        }
    }
}
