// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import KeychainModel

/// The proof that the person must give before an ``LARight`` is granted.
public final class LAAuthenticationRequirement: NSObject, Sendable {
    /// The requirements, as stored rights encode them.
    enum Kind: UInt8, CaseIterable, Sendable {
        case owner = 0
        case biometry = 1
        case biometryCurrentSet = 2
        case biometryOrPasscode = 3
    }

    let kind: Kind

    init(_ kind: Kind) { self.kind = kind }

    /// Biometry or the passcode.
    public static let `default` = LAAuthenticationRequirement(.owner)
    /// Biometry, with any finger that is enrolled when the right is used.
    public static let biometry = LAAuthenticationRequirement(.biometry)
    /// Biometry, only with the fingers that are enrolled when the right is saved.
    public static let biometryCurrentSet = LAAuthenticationRequirement(.biometryCurrentSet)

    /// Biometry, or the fallback if biometry is not available or the person chooses it.
    public static func biometry(fallback: LABiometryFallbackRequirement) -> LAAuthenticationRequirement {
        LAAuthenticationRequirement(fallback.kind)
    }

    /// Whether both require the same.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? LAAuthenticationRequirement)?.kind == kind
    }

    /// A hash; equal requirements have equal hashes.
    public override var hash: Int { Int(kind.rawValue) }
}

/// The proof that the person can give instead of biometry.
public final class LABiometryFallbackRequirement: NSObject, Sendable {
    let kind: LAAuthenticationRequirement.Kind

    private init(_ kind: LAAuthenticationRequirement.Kind) { self.kind = kind }

    /// Any authentication of the owner.
    public static let `default` = LABiometryFallbackRequirement(.owner)
    /// The passcode of the keychain.
    public static let devicePasscode = LABiometryFallbackRequirement(.biometryOrPasscode)
}

extension LAAuthenticationRequirement.Kind {
    /// The constraints of an item that requires the same.
    var flags: AccessControlFlags {
        switch self {
        case .owner: .userPresence
        case .biometry: .biometryAny
        case .biometryCurrentSet: .biometryCurrentSet
        case .biometryOrPasscode: [.biometryAny, .or, .devicePasscode]
        }
    }

    /// The policy that must be available.
    var policy: LAPolicy {
        switch self {
        case .owner, .biometryOrPasscode: .deviceOwnerAuthentication
        case .biometry, .biometryCurrentSet: .deviceOwnerAuthenticationWithBiometrics
        }
    }
}
