// SPDX-License-Identifier: Apache-2.0

/// One way in which a person satisfies an access control. The raw value is part of the database
/// format.
public enum AccessConstraint: UInt8, Sendable, Hashable, CaseIterable {
    /// The passcode of the keychain, entered for this use.
    case devicePasscode = 1
    /// The passcode, any enrolled biometry, or a security key that was enrolled for it.
    case userPresence = 2
    /// Any enrolled biometry.
    case biometryAny = 3
    /// The biometry that was enrolled when the item was written.
    case biometryCurrentSet = 4
    /// An enrolled security key.
    case securityKey = 5

    /// The flag that requires this constraint.
    public var flag: AccessControlFlags {
        switch self {
        case .devicePasscode: .devicePasscode
        case .userPresence: .userPresence
        case .biometryAny: .biometryAny
        case .biometryCurrentSet: .biometryCurrentSet
        case .securityKey: .latchkeySecurityKey
        }
    }
}

/// The constraints of an access control. They must be satisfied before the secrets of an item can be opened
/// (keychain-behaviour §5.4).
public struct AccessConstraints: Hashable, Sendable {
    /// How many of the constraints are required.
    public enum Threshold: UInt8, Sendable {
        case one = 1
        case all = 2
    }

    /// The flags that were parsed into the constraints.
    public let flags: AccessControlFlags
    /// In the order of their raw values; empty if only an application password is required.
    public let terms: [AccessConstraint]
    /// ``Threshold/one`` only for several terms with the operator `or`.
    public let threshold: Threshold
    /// Whether a password of the application takes part in the derivation of the key, in addition
    /// to the terms.
    public var requiresApplicationPassword: Bool { flags.contains(.applicationPassword) }
    /// Whether the constraints apply to the use of a private key, and not to reading the item.
    public var appliesToPrivateKeyUsage: Bool { flags.contains(.privateKeyUsage) }

    /// Parses the flags of an access control; returns nil if they have no constraints.
    ///
    /// - Throws: errSecParam for a combination that cannot be created, or for a flag that is not
    ///   supported; the message names it.
    public static func parse(_ flags: AccessControlFlags) throws(KeychainError) -> AccessConstraints? {
        let unsupported = flags.subtracting(supported)
        guard unsupported.isEmpty else {
            let bits = (0..<UInt64.bitWidth).filter { unsupported.rawValue >> UInt64($0) & 1 == 1 }
            let names = bits.map { $0 == 5 ? "watch (bit 5)" : "bit \($0)" }.joined(separator: ", ")
            throw .parameter("the access control has unsupported flags: \(names)")
        }
        guard !flags.isSuperset(of: [.or, .and]) else {
            throw .parameter("the access control has both operators `or` and `and`, expected one of them")
        }
        guard !flags.isSuperset(of: [.biometryAny, .biometryCurrentSet]) else {
            throw .parameter("the access control has both biometryAny and biometryCurrentSet, expected one of them")
        }
        let terms = AccessConstraint.allCases.filter { flags.contains($0.flag) }
        guard !terms.contains(.userPresence) || terms.count == 1 else {
            throw .parameter("userPresence can only be combined with applicationPassword and privateKeyUsage")
        }
        guard !terms.isEmpty || flags.contains(.applicationPassword) else { return nil }
        return AccessConstraints(flags: flags, terms: terms)
    }

    private init(flags: AccessControlFlags, terms: [AccessConstraint]) {
        self.flags = flags
        self.terms = terms
        threshold = flags.contains(.or) && terms.count > 1 ? .one : .all
    }

    private static let supported = AccessConstraint.allCases.reduce(
        into: [.or, .and, .privateKeyUsage, .applicationPassword]
    ) { (flags: inout AccessControlFlags, term) in flags.insert(term.flag) }
}
