// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol

/// The values of a response: the answer of an operation, a part of it, or a content that is sent before it.
package protocol ResponseContent: Sendable {
    /// Returns the values as the schema defines them.
    func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content

    /// Whether further responses to the same request follow.
    var moreFollows: Bool { get }

    /// Whether it says that nothing was found, so that another keychain may have the answer.
    var isEmpty: Bool { get }

    /// Whether something in it is locked, so that a keychain that is open would say more.
    var hasLocked: Bool { get }

    /// Adds the next part of the same answer, or the answer of the next keychain.
    mutating func append(_ part: Self)

    /// Returns the same for a caller that can start an agent to ask the person.
    func countingAgent(_ canStart: () -> Bool) -> Self

    /// Passes its values to `send`, as parts that others follow.
    ///
    /// - Returns: the rest: the values that the audit log records.
    func drained(
        by send: (any ResponseContent) throws(KeychainError) -> Void
    ) throws(KeychainError) -> Self

    /// The approximate size in memory, in bytes; 0 for answers that are always small.
    var weight: Int { get }

    /// Passes the parts to `send`, each small enough for one frame.
    func forEachPart(_ send: (any ResponseContent) throws(WireError) -> Void) throws(WireError)

    /// The number of items that the audit log records.
    var auditedCount: Int { get }

    /// The access group that the audit log records: that of all items; nil if they have not one.
    var auditedGroup: AccessGroup? { get }
}

extension ResponseContent {
    package var moreFollows: Bool { false }

    package var isEmpty: Bool { false }

    package var hasLocked: Bool { false }

    package mutating func append(_ part: Self) { self = part }

    package func countingAgent(_ canStart: () -> Bool) -> Self { self }

    package func drained(
        by send: (any ResponseContent) throws(KeychainError) -> Void
    ) throws(KeychainError) -> Self { self }

    package var weight: Int { 0 }

    package func forEachPart(_ send: (any ResponseContent) throws(WireError) -> Void) throws(WireError) {
        try send(self)
    }

    package var auditedCount: Int { 0 }

    package var auditedGroup: AccessGroup? { nil }
}

/// The approximate length of the content of one frame, in bytes.
package enum ResponsePart {
    package static let maxLength = 256 << 10
    static let maxSecrets = 200
}

// MARK: Answers of several operations

/// The operation was performed; there is nothing to return.
package struct Done: ResponseContent, Equatable {
    package init() {}

    init(_ wire: WireNothing) throws(WireError) { try requireKnown(wire) }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content { .done(WireNothing()) }
}

/// A number of items; or 1 for yes and 0 for no.
package struct ItemCount: ResponseContent, Equatable {
    package private(set) var count: Int

    package init(_ count: Int) { self.count = count }

    init(_ wire: UInt64) throws(WireError) { count = try number(wire, "a number of items") }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        .count(UInt64(max(0, count)))
    }

    package var auditedCount: Int { count }

    package var isEmpty: Bool { count == 0 }

    package mutating func append(_ part: ItemCount) { count += part.count }
}

// MARK: Before the answer

/// The daemon is ready for the next data of the client: pieces of a backup, or a descriptor.
package struct Ready: ResponseContent, Equatable {
    package init() {}

    init(_ wire: WireNothing) throws(WireError) { try requireKnown(wire) }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content { .ready(WireNothing()) }

    package var moreFollows: Bool { true }
}

extension KeychainError {
    package static let unexpectedResponse = KeychainError(
        .internalFailure, "the response of latchkeyd does not match the request",
        hint: "use one version of Latchkey")
}
