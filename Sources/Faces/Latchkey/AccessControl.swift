// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// The authentication that each use of an item or a key requires of the person.
///
/// ```swift
/// var item = GenericPassword(service: "bank.example", account: "alice")
/// item.accessControl = .any(.biometryAny, .devicePasscode)
/// try keychain.set(item, to: "s3cret")
/// ```
///
/// The person is asked when the item is read or changed, also for its attributes, but not when it is
/// stored or deleted. ``Keychain/authenticated(reason:)`` asks once for several calls. Where the
/// person cannot be asked, a call throws ``KeychainError/interactionNotAllowed``.
///
/// Biometry requires latchkeyd: without it, such items are refused.
public struct AccessControl: Hashable, Sendable {
    /// The flags of Apple's `SecAccessControlCreateFlags`.
    public let flags: AccessControlFlags

    private init(_ flags: AccessControlFlags) {
        self.flags = flags
    }

    /// The access control of an item; nil if the item has none.
    init?(of record: ItemRecord) {
        guard let flags = record.accessControlFlags, flags.hasConstraints else { return nil }
        self.flags = flags
    }

    /// One constraint of an access control.
    public enum Constraint: Hashable, Sendable, CaseIterable {
        /// The passcode of the keychain, entered for this use.
        case devicePasscode
        /// Any enrolled biometry, also one that is enrolled later.
        case biometryAny
        /// The biometry that is enrolled when the item is stored; the item is lost when that
        /// changes.
        case biometryCurrentSet
        /// A security key that was enrolled with `latchkey security-key enroll`.
        case securityKey

        var flag: AccessControlFlags {
            switch self {
            case .devicePasscode: .devicePasscode
            case .biometryAny: .biometryAny
            case .biometryCurrentSet: .biometryCurrentSet
            case .securityKey: .latchkeySecurityKey
            }
        }
    }

    /// The person is present: by the passcode, by biometry, or by a security key that was enrolled
    /// for it.
    public static let userPresence = AccessControl(.userPresence)
    /// The passcode of the keychain.
    public static let devicePasscode = all(.devicePasscode)
    /// Any enrolled biometry.
    public static let biometryAny = all(.biometryAny)
    /// The biometry that is enrolled now.
    public static let biometryCurrentSet = all(.biometryCurrentSet)
    /// An enrolled security key.
    public static let securityKey = all(.securityKey)
    /// A password of the program; see ``Keychain/authenticated(reason:password:)``.
    public static let applicationPassword = AccessControl(.applicationPassword)

    /// Nothing. It removes the access control of an item that is updated.
    public static let nothing = AccessControl([])

    /// One of the constraints is sufficient.
    public static func any(_ constraints: Constraint...) -> AccessControl {
        AccessControl(flags(of: constraints, joinedBy: .or))
    }

    /// All of the constraints are required.
    public static func all(_ constraints: Constraint...) -> AccessControl {
        AccessControl(flags(of: constraints, joinedBy: .and))
    }

    /// The same access control, with a password of the program as an additional requirement.
    public var withApplicationPassword: AccessControl { AccessControl(flags.union(.applicationPassword)) }

    /// The same access control, for the uses of a private key.
    var ofPrivateKey: AccessControl { AccessControl(flags.union(.privateKeyUsage)) }

    private static func flags(
        of constraints: [Constraint], joinedBy joiner: AccessControlFlags
    ) -> AccessControlFlags {
        constraints.reduce(into: constraints.count > 1 ? joiner : []) { flags, constraint in
            flags.formUnion(constraint.flag)
        }
    }
}
