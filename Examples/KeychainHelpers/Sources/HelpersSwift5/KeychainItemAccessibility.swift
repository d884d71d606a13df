// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// When a stored value can be read.
enum KeychainItemAccessibility: CaseIterable, Sendable {
    case afterFirstUnlock
    case afterFirstUnlockThisDeviceOnly
    case whenPasscodeSetThisDeviceOnly
    case whenUnlocked
    case whenUnlockedThisDeviceOnly

    /// The accessibility that an item's attributes name; nil for one that is not known here.
    init?(attributeValue: CFString) {
        guard let known = accessibilityConstants.first(where: { $0.value == attributeValue }) else { return nil }
        self = known.key
    }

    /// The constant for `kSecAttrAccessible`.
    var attributeValue: CFString {
        accessibilityConstants[self] ?? kSecAttrAccessibleWhenUnlocked
    }
}

// CFString is not Sendable. This is safe because neither the dictionary nor the constants in it ever change.
nonisolated(unsafe) private let accessibilityConstants: [KeychainItemAccessibility: CFString] = [
    .afterFirstUnlock: kSecAttrAccessibleAfterFirstUnlock,
    .afterFirstUnlockThisDeviceOnly: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
    .whenPasscodeSetThisDeviceOnly: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
    .whenUnlocked: kSecAttrAccessibleWhenUnlocked,
    .whenUnlockedThisDeviceOnly: kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
]
