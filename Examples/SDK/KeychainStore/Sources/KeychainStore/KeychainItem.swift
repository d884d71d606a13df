// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// A key of a `Keychain` with its attributes, without its value.
public struct KeychainItem {
    public let key: String
    public let label: String?
    public let comment: String?
    public let accessibility: Accessibility?
    public let isSynchronizable: Bool
    public let creationDate: Date?

    /// Creates an item from the attributes of a result; nil if it has no account.
    init?(attributes: [String: Any]) {
        guard let key = attributes[kSecAttrAccount as String] as? String else { return nil }
        self.key = key
        label = attributes[kSecAttrLabel as String] as? String
        comment = attributes[kSecAttrComment as String] as? String
        accessibility = (attributes[kSecAttrAccessible as String] as? String).flatMap { Accessibility(rawValue: $0) }
        isSynchronizable = (attributes[kSecAttrSynchronizable as String] as? NSNumber)?.boolValue ?? false
        creationDate = attributes[kSecAttrCreationDate as String] as? Date
    }
}
