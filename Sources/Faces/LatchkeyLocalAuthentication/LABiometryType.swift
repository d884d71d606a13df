// SPDX-License-Identifier: Apache-2.0

/// The kind of biometry of a device. On Linux this is a fingerprint sensor, with the name that apps expect:
/// ``touchID``.
public enum LABiometryType: Int, Sendable {
    /// No biometry.
    case none = 0
    /// A fingerprint sensor that fprintd knows.
    case touchID = 1
    /// Facial recognition; never on Linux.
    case faceID = 2
    /// Iris recognition; never on Linux.
    case opticID = 4

    /// The name of ``none`` in iOS 11.0.
    @available(*, deprecated, renamed: "none")
    public static let LABiometryNone = none
}

/// A secret that a program gives to an `LAContext`.
public enum LACredentialType: Int, Sendable {
    /// The password of items with `applicationPassword` in their access control.
    case applicationPassword = 0
    /// The PIN of a smart card; not supported on Linux.
    case smartCardPIN = -3
}

/// The use that `LAContext.evaluateAccessControl` evaluates an access control for.
public enum LAAccessControlOperation: Int, Sendable {
    /// The item is stored.
    case createItem = 0
    /// The secret of the item is read.
    case useItem = 1
    /// The key is generated or stored.
    case createKey = 2
    /// The key signs.
    case useKeySign = 3
    /// The key decrypts.
    case useKeyDecrypt = 4
    /// The key computes a shared secret.
    case useKeyKeyExchange = 5

    /// Whether the operation stores something new. This requires no authentication, only the
    /// application password if the access control has one (keychain-behaviour §5.4).
    var isCreation: Bool { self == .createItem || self == .createKey }
}
