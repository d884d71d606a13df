// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// An action that a program can request from a keychain: the values of its request, their encoding, its details in the
/// audit log, and its work. Each operation is one file, with the verb that calls it, and one line of
/// ``OperationTable``.
///
/// ```swift
/// package struct LockKeychain: KeychainOperation {
///     package let immediately: Bool
///     package static let traits: OperationTraits = [.accessesAllGroups, .staysInSession, .worksWithoutLog]
///     package func run(in context: some OperationContext) throws(KeychainError) -> Done { … }
///     …
/// ```
package protocol KeychainOperation: Sendable {
    /// The values of the final response.
    associatedtype Answer: ResponseContent

    /// The traits that access, repetition and the audit log depend on.
    static var traits: OperationTraits { get }

    /// The operation in the audit log; nil if it decides nothing.
    var audit: AuditDetails? { get }

    /// Performs the operation, after ``AccessPolicy`` has allowed it.
    func run(in context: some OperationContext) throws(KeychainError) -> Answer

    // MARK: Several keychains

    /// The keychains of a search list that perform it.
    var reach: OperationReach { get }

    /// The operation that the searched keychains perform before the default one performs the whole.
    var inSearchList: Self { get }

    /// Returns the operation for the next keychain after these answers; nil if nothing is missing.
    func rest(after answer: Answer) -> Self?

    /// The answer of a search that finds nothing; nil for another operation. In a message it is
    /// errSecItemNotFound.
    var nothing: Answer? { get }

    // MARK: The person

    /// How the call may satisfy access controls; nil if the person is not asked during the operation.
    var authentication: Authentication? { get }

    /// Returns the same operation with another authentication.
    func authenticated(by authentication: Authentication) -> Self

    /// Where the person can be asked; nil for an operation that does not depend on it.
    var promptPlace: PromptPlace? { get }

    /// Returns the same operation for a caller at a place, unless it names one.
    func placed(at place: () -> PromptPlace) -> Self

    // MARK: Encoding

    /// Returns the request as the schema defines it.
    ///
    /// - Throws: `malformed` if a part of it cannot be encoded.
    func encoded(_ secrets: inout SecretCollector) throws(WireError) -> WireRequest.OneOf_Operation

    /// Returns the part of an answer to a change that is kept for a repeated request: no secrets, and not more than a
    /// few kilobytes.
    ///
    /// - Throws: the error that answers a repeated request if the answer cannot be kept.
    func kept(_ answer: Answer) throws(KeychainError) -> Answer

    /// Returns the answer to a repeated request.
    func repeated(_ kept: Answer) -> Answer
}

extension KeychainOperation {
    package func kept(_ answer: Answer) throws(KeychainError) -> Answer { answer }

    package func repeated(_ kept: Answer) -> Answer { kept }

    package var reach: OperationReach { .defaultKeychain }

    package var inSearchList: Self { self }

    package func rest(after answer: Answer) -> Self? { nil }

    package var nothing: Answer? { nil }

    package var authentication: Authentication? { nil }

    package func authenticated(by authentication: Authentication) -> Self { self }

    package var promptPlace: PromptPlace? { nil }

    package func placed(at place: () -> PromptPlace) -> Self { self }
}

/// The keychains of a search list that perform an operation.
package enum OperationReach: Sendable {
    /// The keychain that gets new items. Operations on a whole keychain concern this one.
    case defaultKeychain
    /// The one that every user has.
    case loginKeychain
    /// Those that are searched, in the order of the list, until nothing is missing.
    case searchList
    /// The same; and, if they find nothing, the default one.
    case searchListThenDefault
    /// The default one, and then every other that is open.
    case everyKeychain
}

/// The details of an operation in the audit log.
package struct AuditDetails: Sendable {
    /// The name in the log, part of its format.
    package var name: String
    package var itemClass: ItemClass?
    /// The access group that the request names; the group of the answer takes precedence.
    package var group: String?
    /// The keychain that the request creates or deletes.
    package var keychain: KeychainName?
    /// Whether the request contains the passcode of the keychain, the current or a new one.
    package var includesPasscode: Bool
    /// Whether the person may be asked for the passcode. Only a wrong one is recorded then: success
    /// may have come from something else.
    package var promptsForPasscode: Bool
    /// Whether a successful operation is answered before its line is written.
    package var isDeferred: Bool

    package init(
        _ name: String, itemClass: ItemClass? = nil, group: String? = nil, keychain: KeychainName? = nil,
        includesPasscode: Bool = false,
        promptsForPasscode: Bool = false, isDeferred: Bool = false
    ) {
        self.name = name
        self.itemClass = itemClass
        self.group = group
        self.keychain = keychain
        self.includesPasscode = includesPasscode
        self.promptsForPasscode = promptsForPasscode
        self.isDeferred = isDeferred
    }
}
