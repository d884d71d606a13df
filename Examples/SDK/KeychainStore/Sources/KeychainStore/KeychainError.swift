// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// A status of the keychain that is not success.
public struct KeychainError: Error, Equatable {
    public let status: OSStatus

    public init(status: OSStatus) {
        self.status = status
    }

    public static let itemNotFound = KeychainError(status: errSecItemNotFound)
    public static let duplicateItem = KeychainError(status: errSecDuplicateItem)
    public static let decode = KeychainError(status: errSecDecode)
}

extension KeychainError: LocalizedError {
    public var errorDescription: String? {
        SecCopyErrorMessageString(status, nil) as String?
    }
}
