// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import KeychainModel

/// One of the user's keychains, by its name. It need not exist: the calls that use it report
/// errSecNoSuchKeychain then.
///
/// Keychains are created by ``SecKeychainCreate(_:_:_:_:_:_:)`` and found by
/// ``SecKeychainOpen(_:_:)``, not with an initializer. Two objects are equal if they name the same
/// keychain. New code uses ``SecItemAdd(_:_:)`` and its sisters without one: they search the
/// keychains of the search list.
public final class SecKeychain: NSObject, Sendable {
    /// A ``KeychainBox``, in a form that hides its type from clients.
    private let content: any AnyObject & Sendable

    init(_ name: KeychainName) {
        content = KeychainBox(name)
        super.init()
    }

    var name: KeychainName { unsafeDowncast(content, to: KeychainBox.self).name }

    /// Whether the other object stands for the same keychain.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? SecKeychain)?.name == name
    }

    /// A hash; equal objects have equal hashes.
    public override var hash: Int { name.hashValue }

    /// The name, such as `<SecKeychain: build>`.
    public override var description: String { "<SecKeychain: \(name)>" }
}

/// Holds a `KeychainName`, because the public type cannot name it.
private final class KeychainBox: Sendable {
    let name: KeychainName
    init(_ name: KeychainName) { self.name = name }
}

extension SecKeychain: CoreFoundationType {
    static var typeID: CFTypeID { TypeIdentifier.keychain.rawValue }
}

/// Returns the type identifier of `SecKeychain`, for comparison with `CFGetTypeID`.
@discardableResult
public func SecKeychainGetTypeID() -> CFTypeID {
    SecKeychain.typeID
}
