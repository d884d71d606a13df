// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import KeychainModel

/// A password in one of the user's keychains. It is also a value of `kSecValueRef`.
///
/// Items are found and added by the functions for passwords, not with an initializer. Two objects
/// are equal if they name the same item of the same keychain. The item may be deleted meanwhile;
/// then the calls report errSecItemNotFound.
public final class SecKeychainItem: NSObject, Sendable {
    /// A ``KeychainItemBody``, in a form that hides its type from clients.
    private let content: any AnyObject & Sendable

    init(_ body: KeychainItemBody) {
        content = KeychainItemBox(body)
        super.init()
    }

    var body: KeychainItemBody { unsafeDowncast(content, to: KeychainItemBox.self).body }

    /// Whether the other object stands for the same item.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? SecKeychainItem)?.body == body
    }

    /// A hash; equal objects have equal hashes.
    public override var hash: Int { body.hashValue }

    /// The class and the keychain, such as `<SecKeychainItem: genp in build>`.
    public override var description: String {
        "<SecKeychainItem: \(body.itemClass.rawValue) in \(body.keychain)>"
    }
}

/// The item of a `SecKeychainItem`.
struct KeychainItemBody: Hashable, Sendable {
    let keychain: KeychainName
    let reference: PersistentReference

    var itemClass: ItemClass { reference.itemClass }

    /// A query for this item alone.
    var query: ItemQuery { ItemQuery(nil, synchronizable: .any, persistentReference: reference) }
}

/// Holds a ``KeychainItemBody``, because the public type cannot name it.
private final class KeychainItemBox: Sendable {
    let body: KeychainItemBody
    init(_ body: KeychainItemBody) { self.body = body }
}

extension SecKeychainItem: CoreFoundationType {
    static var typeID: CFTypeID { TypeIdentifier.keychainItem.rawValue }
}

/// Returns the type identifier of `SecKeychainItem`, for comparison with `CFGetTypeID`.
@discardableResult
public func SecKeychainItemGetTypeID() -> CFTypeID {
    SecKeychainItem.typeID
}
