// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Latchkey

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
