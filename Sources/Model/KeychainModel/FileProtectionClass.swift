// SPDX-License-Identifier: Apache-2.0

/// When a protected file can be opened. The raw value is the class's number in files and messages.
public enum FileProtectionClass: UInt8, CaseIterable, Sendable, Hashable {
    /// Class A, `NSFileProtectionComplete`: only while the keychain is unlocked.
    case complete = 1
    /// Class B, `NSFileProtectionCompleteUnlessOpen`: can be created at any time, and used as long as
    /// it stays open; it is opened again only while the keychain is unlocked.
    case completeUnlessOpen = 2
    /// Class C, `NSFileProtectionCompleteUntilFirstUserAuthentication`: from the first unlock on.
    case completeUntilFirstUserAuthentication = 3
    /// Class D, `NSFileProtectionNone`: always, on this device.
    case none = 4

    /// The short name, for commands and policies: `complete`, `unless-open`, `first-unlock`, `none`.
    public var name: String {
        switch self {
        case .complete: "complete"
        case .completeUnlessOpen: "unless-open"
        case .completeUntilFirstUserAuthentication: "first-unlock"
        case .none: "none"
        }
    }

    /// The class with this short name; nil for an unknown one.
    public init?(name: String) {
        guard let match = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = match
    }

    /// The value of Apple's constant.
    public var constant: String {
        switch self {
        case .complete: "NSFileProtectionComplete"
        case .completeUnlessOpen: "NSFileProtectionCompleteUnlessOpen"
        case .completeUntilFirstUserAuthentication: "NSFileProtectionCompleteUntilFirstUserAuthentication"
        case .none: "NSFileProtectionNone"
        }
    }

    /// The class of items that is open when files of this class can be opened.
    public var itemProtection: ProtectionClass {
        switch self {
        case .complete, .completeUnlessOpen: .whenUnlocked
        case .completeUntilFirstUserAuthentication: .afterFirstUnlock
        case .none: .alwaysThisDeviceOnly
        }
    }
}
