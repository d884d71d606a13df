// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// A text that is not empty.
public struct Identifier: Hashable, CustomStringConvertible {
    public let description: String

    public init?(nonEmpty text: String) {
        guard !text.isEmpty else { return nil }
        description = text
    }
}

/// When the values of a box can be read.
public enum Accessibility: String, CaseIterable {
    case whenUnlocked
    case afterFirstUnlock
    case whenUnlockedThisDeviceOnly
    case afterFirstUnlockThisDeviceOnly

    var attribute: CFString {
        switch self {
        case .whenUnlocked: return kSecAttrAccessibleWhenUnlocked
        case .afterFirstUnlock: return kSecAttrAccessibleAfterFirstUnlock
        case .whenUnlockedThisDeviceOnly: return kSecAttrAccessibleWhenUnlockedThisDeviceOnly
        case .afterFirstUnlockThisDeviceOnly: return kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        }
    }
}

/// The settings that the items of a box have in common.
public struct Configuration: Hashable {
    public let identifier: Identifier
    public let accessibility: Accessibility

    /// The service of the items: boxes with another accessibility have other items.
    public var service: String {
        "SecureBox_\(identifier)_\(accessibility.rawValue)"
    }

    func query(key: String? = nil) -> [String: AnyHashable] {
        var query: [String: AnyHashable] = [
            kSecClass as String: kSecClassGenericPassword as String,
            kSecAttrService as String: service,
            kSecAttrAccessible as String: accessibility.attribute as String,
        ]
        if let key = key { query[kSecAttrAccount as String] = key }
        return query
    }
}
