// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Certificates to be judged, together with the policies and anchors to judge them by.
///
/// Not made by its initialiser but by `SecTrustCreateWithCertificates`. Plain `Sendable`, checked by the compiler: what is stored here has
/// to be immutable or locked.
public final class SecTrust: NSObject, Sendable {
    /// The one designated initialiser, so that clients do not inherit `init()`.
    init(reserved: Void) {
        super.init()
    }
}

extension SecTrust: CoreFoundationType {
    static var typeID: CFTypeID { TypeIdentifier.trust.rawValue }
}

/// What `CFGetTypeID` gives for a `SecTrust`.
@discardableResult
public func SecTrustGetTypeID() -> CFTypeID {
    SecTrust.typeID
}
