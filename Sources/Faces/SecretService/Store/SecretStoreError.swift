// SPDX-License-Identifier: Apache-2.0

/// Why a call of a ``SecretStore`` failed.
public enum SecretStoreError: Error, Hashable, Sendable {
    /// The collection or the item does not exist, or does not exist any more.
    case notFound
    /// The item is locked, or the collection is locked and nothing can be written.
    case locked
    /// The passcode is wrong, or was not checked because of earlier wrong ones.
    case wrongPasscode(String)
    /// The store, or a rule of it, does not allow the call.
    case denied(String)
    /// The store does not have the operation.
    case notSupported(String)
    /// A value is not valid.
    case invalid(String)
    /// A value or a number of things exceeds a limit.
    case limitExceeded(String)
    /// The store cannot be used; the texts have the reason, and a command that the user can type.
    case unavailable(String, hint: String?)
}

// MARK: CustomStringConvertible

extension SecretStoreError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notFound: "the object does not exist"
        case .locked: "the collection is locked"
        case .wrongPasscode(let problem), .denied(let problem), .notSupported(let problem), .invalid(let problem):
            problem
        case .limitExceeded(let limit): "a limit is exceeded: \(limit)"
        case .unavailable(let problem, let hint): hint.map { "\(problem) (\($0))" } ?? problem
        }
    }
}
