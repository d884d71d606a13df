// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// When a value can be read.
public enum Accessibility {
    case whenUnlocked
    case afterFirstUnlock
    case whenPasscodeSetThisDeviceOnly
    case whenUnlockedThisDeviceOnly
    case afterFirstUnlockThisDeviceOnly
}

/// The raw value is the text of the constant.
extension Accessibility: RawRepresentable {
    public init?(rawValue: String) {
        switch rawValue {
        case String(kSecAttrAccessibleWhenUnlocked): self = .whenUnlocked
        case String(kSecAttrAccessibleAfterFirstUnlock): self = .afterFirstUnlock
        case String(kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly): self = .whenPasscodeSetThisDeviceOnly
        case String(kSecAttrAccessibleWhenUnlockedThisDeviceOnly): self = .whenUnlockedThisDeviceOnly
        case String(kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly): self = .afterFirstUnlockThisDeviceOnly
        default: return nil
        }
    }

    public var rawValue: String {
        switch self {
        case .whenUnlocked: return String(kSecAttrAccessibleWhenUnlocked)
        case .afterFirstUnlock: return String(kSecAttrAccessibleAfterFirstUnlock)
        case .whenPasscodeSetThisDeviceOnly: return String(kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly)
        case .whenUnlockedThisDeviceOnly: return String(kSecAttrAccessibleWhenUnlockedThisDeviceOnly)
        case .afterFirstUnlockThisDeviceOnly: return String(kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly)
        }
    }
}
