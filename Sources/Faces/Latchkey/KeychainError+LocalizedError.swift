// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import KeychainModel

// The conformance to CustomNSError is in LatchkeyFoundation, because it needs the whole of Foundation.

extension KeychainError: LocalizedError {
    /// The problem, with the expected and the found value.
    public var errorDescription: String? { problem }
    /// The item, if known, and the name of the status:
    /// `generic password, service example.com (errSecItemNotFound (-25300))`.
    public var failureReason: String? { item.map { "\($0) (\(status))" } ?? "\(status)" }
    /// The hint: an action, or a text to type, if known.
    public var recoverySuggestion: String? { hint }
}
