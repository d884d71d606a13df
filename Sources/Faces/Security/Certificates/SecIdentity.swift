// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A certificate together with its private key.
///
/// Not made by its initialiser but by PKCS#12 import and the keychain. Plain `Sendable`, checked by the compiler: what is stored here has
/// to be immutable or locked.
public final class SecIdentity: NSObject, Sendable {
    /// The one designated initialiser, so that clients do not inherit `init()`.
    init(reserved: Void) {
        super.init()
    }
}

extension SecIdentity: CoreFoundationType {
    static var typeID: CFTypeID { TypeIdentifier.identity.rawValue }
}

/// What `CFGetTypeID` gives for a `SecIdentity`.
@discardableResult
public func SecIdentityGetTypeID() -> CFTypeID {
    SecIdentity.typeID
}
