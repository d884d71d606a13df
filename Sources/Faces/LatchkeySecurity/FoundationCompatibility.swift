// SPDX-License-Identifier: Apache-2.0

// The parts of Apple's Foundation that programs with Security call and that Foundation on Linux lacks: table "What
// blocked" of apple-compat.

public import Foundation
public import FoundationNetworking
internal import LinuxSystem
import Synchronization

// MARK: Strings as dictionary keys

/// Makes `AnyHashable(kSecAttrAccount)` equal to `AnyHashable("acct")`, so that either finds an
/// attribute in `[AnyHashable: Any]`.
extension NSString: @retroactive _HasCustomAnyHashableRepresentation {
    /// The standard library calls it to compare a string with other hashable values.
    public func _toCustomAnyHashable() -> AnyHashable? {
        AnyHashable(self as String)
    }
}

// MARK: Errors and dictionaries

extension NSError {
    /// `NSError()`: an error with an empty domain and the code 0. The parameter exists because an
    /// extension cannot override `init()`.
    public convenience init(withoutDomain: Void = ()) {
        self.init(domain: "", code: 0)
    }
}

extension NSMutableDictionary {
    /// Sets the value for a key; nil removes the key.
    public func setValue(_ value: Any?, forKey key: String) {
        if let value {
            setObject(value, forKey: NSString(string: key))
        } else {
            removeObject(forKey: NSString(string: key))
        }
    }
}

// MARK: Map tables

/// A dictionary from objects to objects that does not keep its values alive. Only the kind of
/// Apple's class that `strongToWeakObjects()` creates is supported.
///
/// Keys are compared with `isEqual`. Like Apple's class, it must not be used by several threads at
/// once.
open class NSMapTable<KeyType: AnyObject, ObjectType: AnyObject>: NSObject {
    private struct Entry {
        let key: KeyType
        weak var object: ObjectType?
    }

    private var entries: [AnyHashable: Entry] = [:]
    /// The size that triggers the removal of entries with a deallocated value. It doubles with the number of remaining
    /// entries, so that insertion stays cheap.
    private var sizeToPurgeAt = 16

    /// Returns an empty table that retains its keys and not its objects.
    open class func strongToWeakObjects() -> NSMapTable<KeyType, ObjectType> {
        NSMapTable()
    }

    /// The number of keys with a value that is still alive.
    open var count: Int {
        entries.values.count { $0.object != nil }
    }

    /// Returns the object; nil if there is none, or if it no longer exists.
    open func object(forKey aKey: KeyType?) -> ObjectType? {
        aKey.flatMap { entries[Self.hashable($0)]?.object }
    }

    /// Sets the value for a key; nil removes the key.
    open func setObject(_ anObject: ObjectType?, forKey aKey: KeyType?) {
        guard let aKey else { return }
        guard let anObject else { return removeObject(forKey: aKey) }
        purge()
        entries[Self.hashable(aKey)] = Entry(key: aKey, object: anObject)
    }

    /// Removes the object of this key.
    open func removeObject(forKey aKey: KeyType?) {
        guard let aKey else { return }
        entries[Self.hashable(aKey)] = nil
    }

    /// Removes all keys and objects.
    open func removeAllObjects() {
        entries.removeAll()
    }

    /// Returns an enumerator over the keys.
    open func keyEnumerator() -> NSEnumerator {
        NSArray(array: entries.values.filter { $0.object != nil }.map(\.key)).objectEnumerator()
    }

    /// Returns an enumerator over the objects that exist.
    open func objectEnumerator() -> NSEnumerator? {
        NSArray(array: entries.values.compactMap(\.object)).objectEnumerator()
    }

    private func purge() {
        guard entries.count >= sizeToPurgeAt else { return }
        entries = entries.filter { $0.value.object != nil }
        sizeToPurgeAt = max(16, entries.count * 2)
    }

    private static func hashable(_ key: KeyType) -> AnyHashable {
        (key as? NSObject).map { AnyHashable($0) } ?? AnyHashable(ObjectIdentifier(key))
    }
}

// MARK: Authentication challenges

/// The two authentication methods that Foundation on Linux declares unavailable. Overload
/// resolution prefers these declarations.
public let NSURLAuthenticationMethodServerTrust: String = "NSURLAuthenticationMethodServerTrust"
/// A challenge for a certificate of the client.
public let NSURLAuthenticationMethodClientCertificate: String = "NSURLAuthenticationMethodClientCertificate"

extension URLProtectionSpace {
    /// The server's certificates, if the challenge asks to evaluate them. Sessions with the product
    /// LatchkeyURLSession issue such a challenge; those of Foundation on Linux alone do not.
    #if !Transport
        @available(
            *, deprecated,
            message:
                "URLSession on Linux raises no challenge for a server's trust. Enable the trait Transport, and use LatchkeyURLSession."
        )
    #endif
    public var serverTrust: SecTrust? {
        Self.trusts.value(for: self)
    }

    /// Sets `serverTrust`: for the loader that creates the challenge.
    @_spi(Loading) public func attach(serverTrust: SecTrust) {
        Self.trusts.set(serverTrust, for: self)
    }

    private static let trusts = AssociatedValues<URLProtectionSpace, SecTrust>()
}

extension URLCredential {
    /// A credential that accepts the server: the response to a challenge of `NSURLAuthenticationMethodServerTrust`.
    /// Sessions with LatchkeyURLSession issue such challenges.
    #if !Transport
        @available(
            *, deprecated,
            message:
                "URLSession on Linux raises no challenge for a server's trust. Enable the trait Transport, and use LatchkeyURLSession."
        )
    #endif
    public convenience init(trust: SecTrust) {
        self.init(attaching: Attachment(trust: trust), persistence: .none)
    }

    /// A credential that identifies the client: the response to a challenge of
    /// `NSURLAuthenticationMethodClientCertificate`.
    ///
    /// - Parameter certArray: the certificates between the identity's certificate and a root. The root is not needed.
    public convenience init(
        identity: SecIdentity, certificates certArray: [Any]?, persistence: URLCredential.Persistence
    ) {
        let certificates = certArray?.compactMap { $0 as? SecCertificate } ?? []
        self.init(attaching: Attachment(identity: identity, certificates: certificates), persistence: persistence)
    }

    /// The identity passed at initialization.
    public var identity: SecIdentity? {
        Self.attachments.value(for: self)?.identity
    }

    /// The certificates passed with the identity.
    public var certificates: [Any] {
        Self.attachments.value(for: self)?.certificates ?? []
    }

    /// The trust object passed at initialization.
    package var trust: SecTrust? {
        Self.attachments.value(for: self)?.trust
    }

    /// Foundation compares credentials by user, password and persistence, so each credential needs
    /// a distinct user. (On Apple's platforms the user is nil.)
    private convenience init(attaching attachment: Attachment, persistence: URLCredential.Persistence) {
        self.init(user: UUID().uuidString, password: "", persistence: persistence)
        Self.attachments.set(attachment, for: self)
    }

    private struct Attachment {
        var trust: SecTrust?
        var identity: SecIdentity?
        var certificates: [SecCertificate] = []
    }

    private static let attachments = AssociatedValues<URLCredential, Attachment>()
}

/// Associates values with objects of a class that cannot store them. Owners are not kept alive; the
/// value of a deallocated owner is removed when the table grows.
private final class AssociatedValues<Owner: AnyObject & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        weak var owner: Owner?
        let value: Value
    }

    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        var sizeToPurgeAt = 16
    }

    private let state = SystemMutex(State())

    func value(for owner: Owner) -> Value? {
        state.withLock { state in
            // A new object can have the address of a deallocated owner, hence the comparison.
            guard let entry = state.entries[ObjectIdentifier(owner)], entry.owner === owner else { return nil }
            return entry.value
        }
    }

    func set(_ value: Value, for owner: Owner) {
        state.withLock { state in
            if state.entries.count >= state.sizeToPurgeAt {
                state.entries = state.entries.filter { $0.value.owner != nil }
                state.sizeToPurgeAt = max(16, state.entries.count * 2)
            }
            state.entries[ObjectIdentifier(owner)] = Entry(owner: owner, value: value)
        }
    }
}
