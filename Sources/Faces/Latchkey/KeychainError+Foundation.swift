// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import KeychainModel

// The conformances for Foundation and for programs that display errors. They are in this module
// because KeychainModel does not import all of Foundation.

extension KeychainError: LocalizedError {
    /// What was expected and what was found.
    public var errorDescription: String? { problem }
    /// The item, if known, and the name of the status:
    /// `generic password, service example.com (errSecItemNotFound (-25300))`.
    public var failureReason: String? { item.map { "\($0) (\(status))" } ?? "\(status)" }
    /// What to do or to type, if known.
    public var recoverySuggestion: String? { hint }
}

extension KeychainError: CustomNSError {
    /// NSOSStatusErrorDomain, as for Apple's calls.
    public static var errorDomain: String { NSOSStatusErrorDomain }
    /// Apple's number for the status.
    public var errorCode: Int { Int(status.rawValue) }

    /// The problem, the item and the hint, under the keys of Foundation and ``itemErrorKey``.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: problem]
        info[NSLocalizedFailureReasonErrorKey] = failureReason
        info[NSLocalizedRecoverySuggestionErrorKey] = hint
        info[Self.itemErrorKey] = item
        return info
    }

    /// The key for ``KeychainError/item`` in `NSError.userInfo`.
    public static let itemErrorKey = "LatchkeyItem"
}
