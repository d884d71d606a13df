// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Rules that a certificate chain is judged by.
///
/// Not made by its initialiser but by the `SecPolicyCreate…` functions. Plain `Sendable`, checked by the compiler: what is stored here has
/// to be immutable or locked.
public final class SecPolicy: NSObject, Sendable {
    /// The one designated initialiser, so that clients do not inherit `init()`.
    init(reserved: Void) {
        super.init()
    }
}

extension SecPolicy: CoreFoundationType {
    static var typeID: CFTypeID { TypeIdentifier.policy.rawValue }
}

/// What `CFGetTypeID` gives for a `SecPolicy`.
@discardableResult
public func SecPolicyGetTypeID() -> CFTypeID {
    SecPolicy.typeID
}
