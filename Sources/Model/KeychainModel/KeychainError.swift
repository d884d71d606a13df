// SPDX-License-Identifier: Apache-2.0

/// Why a keychain operation failed: Apple's status, the problem, and a hint.
///
/// The texts never contain a secret or an attribute's value; only ``item`` contains names.
public struct KeychainError: Error, Hashable, Sendable {
    /// Apple's status, `errSec…`.
    public let status: OSStatusCode
    /// The expected and the actual state. Defaults to the message of the status table.
    public let problem: String
    /// The command or action that helps the user, if it is known.
    public let hint: String?
    /// The item that the operation was about, if there is one: its class and the names that
    /// identify it, never its secret. It is not part of `description`, so that names are logged
    /// only where that is intended.
    public var item: String?
    /// The authentication that the call needs, or the reason for its failure; nil for other errors.
    public var authentication: AuthenticationDetail?

    /// Creates an error.
    ///
    /// - Parameter problem: nil for the message of the status.
    public init(_ status: OSStatusCode, _ problem: String? = nil, hint: String? = nil, item: String? = nil) {
        self.status = status
        self.item = item
        self.problem = problem ?? status.message ?? status.description
        self.hint = hint
    }

    /// No item matches: errSecItemNotFound, −25300.
    public static let itemNotFound = KeychainError(.itemNotFound)
    /// The item exists: errSecDuplicateItem, −25299.
    public static let duplicateItem = KeychainError(.duplicateItem)
    /// The keychain is locked: errSecInteractionNotAllowed, −25308.
    public static let interactionNotAllowed = KeychainError(.interactionNotAllowed)
    /// The program has no right to the access group or the operation: errSecMissingEntitlement,
    /// −34018.
    public static let missingEntitlement = KeychainError(.missingEntitlement)
    /// The keychain cannot be used: errSecNotAvailable, −25291.
    public static let notAvailable = KeychainError(.notAvailable)
    /// The passcode or passphrase is wrong: errSecAuthFailed, −25293.
    public static let authFailed = KeychainError(.authFailed)
    /// The item is damaged, or its secret does not have the requested form: errSecDecode, −26275.
    public static let decode = KeychainError(.decode)

    /// A parameter that is missing, of the wrong type or not allowed: errSecParam.
    public static func parameter(_ problem: String) -> KeychainError {
        KeychainError(.param, problem)
    }
}

// MARK: CustomStringConvertible

extension KeychainError: CustomStringConvertible {
    public var description: String {
        "\(problem) (\(status))"
    }
}
