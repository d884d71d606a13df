// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A cryptographic key, or one half of a pair: in memory, in the keychain, or on a token.
///
/// Not made by its initialiser but by the `SecKeyCreate…` functions and the keychain. Plain `Sendable`, checked by the compiler: what is
/// stored here has to be immutable or locked.
public final class SecKey: NSObject, Sendable {
    /// The one designated initialiser, so that clients do not inherit `init()`.
    init(reserved: Void) {
        super.init()
    }
}

extension SecKey: CoreFoundationType {
    static var typeID: CFTypeID { TypeIdentifier.key.rawValue }
}

/// What `CFGetTypeID` gives for a `SecKey`.
@discardableResult
public func SecKeyGetTypeID() -> CFTypeID {
    SecKey.typeID
}
