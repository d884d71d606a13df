// SPDX-License-Identifier: Apache-2.0

/// When an item can be opened. The raw value is the value of Apple's `kSecAttrAccessible…`
/// constant.
public enum ProtectionClass: String, CaseIterable, Sendable {
    /// `kSecAttrAccessibleWhenUnlocked` (`ak`): while the keychain is unlocked. The default for
    /// passwords and keys.
    case whenUnlocked = "ak"
    /// `kSecAttrAccessibleAfterFirstUnlock` (`ck`): from the first unlock until the process that
    /// holds the keychain ends.
    case afterFirstUnlock = "ck"
    /// `kSecAttrAccessibleAlways` (`dk`): always. The default for certificates.
    case always = "dk"
    /// `kSecAttrAccessibleWhenUnlockedThisDeviceOnly` (`aku`): as ``whenUnlocked``, and never on
    /// another device.
    case whenUnlockedThisDeviceOnly = "aku"
    /// `kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly` (`cku`): as ``afterFirstUnlock``, and
    /// never on another device.
    case afterFirstUnlockThisDeviceOnly = "cku"
    /// `kSecAttrAccessibleAlwaysThisDeviceOnly` (`dku`): as ``always``, and never on another
    /// device.
    case alwaysThisDeviceOnly = "dku"
    /// `kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly` (`akpu`): while the keychain is unlocked
    /// with a passcode; destroyed when the passcode is removed.
    case whenPasscodeSetThisDeviceOnly = "akpu"

    /// Apple's class number (6 to 12), as used in the database and in authenticated data.
    public var number: UInt8 {
        switch self {
        case .whenUnlocked: 6
        case .afterFirstUnlock: 7
        case .always: 8
        case .whenUnlockedThisDeviceOnly: 9
        case .afterFirstUnlockThisDeviceOnly: 10
        case .alwaysThisDeviceOnly: 11
        case .whenPasscodeSetThisDeviceOnly: 12
        }
    }

    /// The class with this number in files and messages; nil for an unknown one.
    public init?(number: UInt8) {
        guard let match = Self.byNumber[number] else { return nil }
        self = match
    }

    private static let byNumber = Dictionary(uniqueKeysWithValues: allCases.map { ($0.number, $0) })

    /// Whether items of this class never leave this device: they are not synchronized, and a backup
    /// of them can be restored on this device only.
    public var isThisDeviceOnly: Bool {
        switch self {
        case .whenUnlocked, .afterFirstUnlock, .always: false
        case .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly,
            .whenPasscodeSetThisDeviceOnly:
            true
        }
    }

    /// Whether items of this class open without the passcode, also before the first unlock.
    public var isAlwaysOpen: Bool { self == .always || self == .alwaysThisDeviceOnly }

    /// Whether the class exists only while a passcode is set.
    public var requiresPasscode: Bool { self == .whenPasscodeSetThisDeviceOnly }

    /// The name of Apple's constant.
    public var constant: String {
        switch self {
        case .whenUnlocked: "kSecAttrAccessibleWhenUnlocked"
        case .afterFirstUnlock: "kSecAttrAccessibleAfterFirstUnlock"
        case .always: "kSecAttrAccessibleAlways"
        case .whenUnlockedThisDeviceOnly: "kSecAttrAccessibleWhenUnlockedThisDeviceOnly"
        case .afterFirstUnlockThisDeviceOnly: "kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly"
        case .alwaysThisDeviceOnly: "kSecAttrAccessibleAlwaysThisDeviceOnly"
        case .whenPasscodeSetThisDeviceOnly: "kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly"
        }
    }

    /// The name for people, in messages and as an argument: that of the file class with the same lock states,
    /// and `-this-device` after it if items of the class never leave this device.
    public var name: String {
        switch self {
        case .whenUnlocked: "complete"
        case .afterFirstUnlock: "first-unlock"
        case .always: "none"
        case .whenUnlockedThisDeviceOnly: "complete-this-device"
        case .afterFirstUnlockThisDeviceOnly: "first-unlock-this-device"
        case .alwaysThisDeviceOnly: "none-this-device"
        case .whenPasscodeSetThisDeviceOnly: "passcode-set-this-device"
        }
    }

    /// The class with this name, or with this value of Apple's constant; nil for an unknown one.
    public init?(named text: String) {
        guard let match = Self.allCases.first(where: { $0.name == text || $0.rawValue == text }) else { return nil }
        self = match
    }

    /// Every ``name``, for help texts.
    public static let listedNames =
        "complete, first-unlock, none, the same with -this-device, or passcode-set-this-device"

    /// Returns the class of an item that is added without one (keychain-behaviour §0.4).
    public static func initial(for itemClass: ItemClass) -> ProtectionClass {
        itemClass == .certificate ? .always : .whenUnlocked
    }
}

// MARK: Hashable

extension ProtectionClass: Hashable {
    /// Compares the number; ``ItemAttribute`` has the reason.
    public static func == (one: ProtectionClass, other: ProtectionClass) -> Bool { one.number == other.number }

    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
