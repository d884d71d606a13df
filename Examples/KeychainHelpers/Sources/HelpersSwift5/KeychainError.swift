// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// Why the keychain did not do what was asked.
enum KeychainError: Error, Equatable {
    /// There is no such item.
    case notFound
    /// There is such an item already.
    case duplicate
    /// What the item holds is not the text that was expected.
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
