// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import KeychainModel

// LatchkeyFoundation has the conformance to CustomNSError, which needs the whole of Foundation.

extension KeychainError: LocalizedError {
    /// What was expected and what was found.
    public var errorDescription: String? { problem }
    /// The item, if known, and the name of the status:
    /// `generic password, service example.com (errSecItemNotFound (-25300))`.
    public var failureReason: String? { item.map { "\($0) (\(status))" } ?? "\(status)" }
    /// What to do or to type, if known.
    public var recoverySuggestion: String? { hint }
}
