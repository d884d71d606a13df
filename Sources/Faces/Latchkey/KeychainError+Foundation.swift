// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import KeychainModel

// What Foundation, and programs that show any error, ask an error for. The conformances are here because the model does without the whole of
// Foundation.

extension KeychainError: LocalizedError {
    /// What was expected and what was found.
    public var errorDescription: String? { problem }
    /// Which item it was about, where that is known, and the status's name: `generic password, service example.com (errSecItemNotFound (-25300))`.
    public var failureReason: String? { item.map { "\($0) (\(status))" } ?? "\(status)" }
    /// What to do or to type, where that is known.
    public var recoverySuggestion: String? { hint }
}

extension KeychainError: CustomNSError {
    /// NSOSStatusErrorDomain, as for Apple's calls.
    public static var errorDomain: String { NSOSStatusErrorDomain }
    /// Apple's number of the status.
    public var errorCode: Int { Int(status.rawValue) }

    /// The problem, the item and the hint, under Foundation's keys and ``itemErrorKey``.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: problem]
        info[NSLocalizedFailureReasonErrorKey] = failureReason
        info[NSLocalizedRecoverySuggestionErrorKey] = hint
        info[Self.itemErrorKey] = item
        return info
    }

    /// The key of ``item`` among `NSError.userInfo`.
    public static let itemErrorKey = "LatchkeyItem"
}
