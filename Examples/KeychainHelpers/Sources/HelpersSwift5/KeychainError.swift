// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// The failure of a request to the keychain.
enum KeychainError: Error, Equatable {
    /// There is no such item.
    case notFound
    /// There is such an item already.
    case duplicate
    /// The data of the item is not the expected text.
    case unexpectedData
    /// Any other answer.
    case unhandled(OSStatus)
}

extension KeychainError: LocalizedError {
    var errorDescription: String? {
        switch self {
        case .notFound: return Self.message(for: errSecItemNotFound)
        case .duplicate: return Self.message(for: errSecDuplicateItem)
        case .unexpectedData: return Self.message(for: errSecDecode)
        case .unhandled(let status): return Self.message(for: status)
        }
    }

    private static func message(for status: OSStatus) -> String? {
        SecCopyErrorMessageString(status, nil) as String?
    }
}
