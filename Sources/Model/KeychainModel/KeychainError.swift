// SPDX-License-Identifier: Apache-2.0

/// Why a keychain call failed: Apple's status, what happened in words, and what to do about it.
///
/// The words never hold a secret or an attribute's value; ``item`` alone holds names.
public struct KeychainError: Error, Hashable, Sendable {
    public let status: OSStatusCode
    /// What was expected and what was found. Defaults to the status table's message.
    public let problem: String
    /// What the user can do or type, where that is known.
    public let hint: String?
    /// Which item the call was about, where it was about one: its class and the names it is found by, never its secret. No part of
    /// ``description``, so that names reach a log only where they are meant to.
    public var item: String?

    public init(_ status: OSStatusCode, _ problem: String? = nil, hint: String? = nil, item: String? = nil) {
        self.status = status
        self.item = item
        self.problem = problem ?? status.message ?? status.description
        self.hint = hint
    }

    /// Matches by status alone: `catch KeychainError.itemNotFound`.
    public static func ~= (pattern: KeychainError, error: any Error) -> Bool {
        (error as? KeychainError)?.status == pattern.status
    }

    /// The same where the error's type is known, as it is after a typed throw.
    public static func ~= (pattern: KeychainError, error: KeychainError) -> Bool {
        error.status == pattern.status
    }

    public static let itemNotFound = KeychainError(.itemNotFound)
    public static let duplicateItem = KeychainError(.duplicateItem)
    public static let interactionNotAllowed = KeychainError(.interactionNotAllowed)
    public static let missingEntitlement = KeychainError(.missingEntitlement)
    public static let notAvailable = KeychainError(.notAvailable)
    public static let authFailed = KeychainError(.authFailed)
    public static let decode = KeychainError(.decode)

    /// An access control that asks for presence, biometry or a passcode: errSecNotAvailable, because nothing here could ask for it.
    public static let constraintsUnsupported = KeychainError(
        .notAvailable,
        "access control with constraints is not enforced by this version, so nothing was stored or made with it",
        hint: "use kSecAttrAccessible instead of kSecAttrAccessControl, or create the access control without flags")

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
