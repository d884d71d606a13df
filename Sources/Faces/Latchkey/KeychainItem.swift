// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import KeychainModel
internal import LatchkeyService
internal import LinuxSystem
public import SecretMemory

/// A property that reads and writes the secret of an item.
///
/// ```swift
/// struct Session {
///     @KeychainItem(service: "example.com", account: "alice") var token: String?
///     @KeychainItem(service: "example.com", account: "alice/state") var state: State?
/// }
///
/// session.token = "t0k3n"             // stores the item
/// session.token = nil                 // deletes it
/// try session.$token.write("t0k3n")   // the same, and throws the error
/// ```
///
/// The value is not cached: each read is a lookup, each assignment is a change, and both block (see
/// ``Keychain/async``). nil means that there is no item.
///
/// A property cannot throw. If the keychain is locked, damaged or not available, reading the
/// property returns nil and assigning to it changes nothing. Such an error is kept in ``lastError``
/// of the projected value, and the program's logger gets one warning for each status. Where the
/// difference between "no item" and "not readable" matters, call ``read()``, ``write(_:)`` and
/// ``delete()`` of the projected value, `$token`.
///
/// With an access control, each access to the property asks the person. A keychain of
/// ``Keychain/authenticated(reason:)`` asks once:
///
/// ```swift
/// @KeychainItem(service: "bank.example", accessControl: .userPresence, in: unlocked) var token: String?
/// ```
///
/// A change in place, as in `session.token?.append("!")`, is a read and an assignment of the result.
/// So that it does not delete an item that could not be read, assigning nil after a failed read
/// changes nothing; ``delete()`` does.
///
/// `String` is stored as UTF-8, `Data`, `[UInt8]` and ``SharedSecret`` as they are, and other
/// `Codable` types as JSON, as by ``Keychain/set(_:toValue:)``. Only a ``SharedSecret`` never leaves
/// secret memory.
@propertyWrapper
public struct KeychainItem<Value: Sendable>: Sendable {
    private let readItem: @Sendable () throws(KeychainError) -> Value?
    private let writeItem: @Sendable (Value) throws(KeychainError) -> Void
    private let deleteItem: @Sendable () throws(KeychainError) -> Void
    private let log = AccessLog()

    init(_ item: some PasswordItem, in keychain: Keychain, as coding: SecretCoding<Value>) {
        readItem = { () throws(KeychainError) in
            let secret: SharedSecret
            do throws(KeychainError) {
                secret = try keychain.sharedSecret(for: item)
            } catch {
                guard error.status == .itemNotFound else { throw error }
                return nil
            }
            return try item.named { () throws(KeychainError) in try coding.value(secret) }
        }
        writeItem = { (value) throws(KeychainError) in
            try keychain.set(item, to: try item.named { () throws(KeychainError) in try coding.secret(value) })
        }
        deleteItem = { () throws(KeychainError) in
            do throws(KeychainError) {
                try keychain.delete(item)
            } catch {
                guard error.status == .itemNotFound else { throw error }
            }
        }
    }

    /// The secret; nil if there is no item, or after an error; ``lastError`` then has the error.
    public var wrappedValue: Value? {
        get {
            do throws(KeychainError) {
                return try read()
            } catch {
                ProgramLog.current.warn(.propertyFailed(error.status, isRead: true))
                return nil
            }
        }
        nonmutating set {
            do throws(KeychainError) {
                if let newValue {
                    try write(newValue)
                } else if let error = log.failureOfRead {
                    throw error
                } else {
                    try delete()
                }
            } catch {
                ProgramLog.current.warn(.propertyFailed(error.status, isRead: false))
            }
        }
    }

    /// The item behind the property, with throwing functions.
    public var projectedValue: KeychainItem<Value> { self }

    /// The error of the last read, assignment, write or deletion through this property or a copy of
    /// it; nil if that succeeded.
    public var lastError: KeychainError? { log.lastError }

    /// Returns the secret; nil if there is no item.
    ///
    /// - Throws: `KeychainError.decode` if the secret is not a `Value`, or the item is damaged.
    public func read() throws(KeychainError) -> Value? {
        try log.recording(.read) { () throws(KeychainError) in try readItem() }
    }

    /// Stores the value. If the item exists, it is updated.
    public func write(_ value: Value) throws(KeychainError) {
        try log.recording(.change) { () throws(KeychainError) in try writeItem(value) }
    }

    /// Deletes the item. It is not an error if there is none.
    public func delete() throws(KeychainError) {
        try log.recording(.change) { () throws(KeychainError) in try deleteItem() }
    }
}

// MARK: Creating

extension KeychainItem where Value == String {
    /// Names the item with this text as its secret.
    public init(_ item: some PasswordItem, in keychain: Keychain = .default) {
        self.init(item, in: keychain, as: .text)
    }

    /// Names the generic password with this text as its secret.
    public init(
        service: String, account: String = "", accessControl: AccessControl? = nil, in keychain: Keychain = .default
    ) {
        self.init(GenericPassword(service: service, account: account, accessControl: accessControl), in: keychain)
    }
}

extension KeychainItem where Value == Data {
    /// Names the item with these bytes as its secret.
    public init(_ item: some PasswordItem, in keychain: Keychain = .default) {
        self.init(item, in: keychain, as: .data)
    }

    /// Names the generic password with these bytes as its secret.
    public init(
        service: String, account: String = "", accessControl: AccessControl? = nil, in keychain: Keychain = .default
    ) {
        self.init(GenericPassword(service: service, account: account, accessControl: accessControl), in: keychain)
    }
}

extension KeychainItem where Value == [UInt8] {
    /// Names the item with these bytes as its secret.
    public init(_ item: some PasswordItem, in keychain: Keychain = .default) {
        self.init(item, in: keychain, as: .bytes)
    }

    /// Names the generic password with these bytes as its secret.
    public init(
        service: String, account: String = "", accessControl: AccessControl? = nil, in keychain: Keychain = .default
    ) {
        self.init(GenericPassword(service: service, account: account, accessControl: accessControl), in: keychain)
    }
}

extension KeychainItem where Value == SharedSecret {
    /// Names the item; its secret is read into secret memory.
    public init(_ item: some PasswordItem, in keychain: Keychain = .default) {
        self.init(item, in: keychain, as: .secretMemory)
    }

    /// Names the generic password; its secret is read into secret memory.
    public init(
        service: String, account: String = "", accessControl: AccessControl? = nil, in keychain: Keychain = .default
    ) {
        self.init(GenericPassword(service: service, account: account, accessControl: accessControl), in: keychain)
    }
}

extension KeychainItem where Value: Codable {
    /// Names the item with this value, in JSON, as its secret.
    public init(_ item: some PasswordItem, in keychain: Keychain = .default) {
        self.init(item, in: keychain, as: .json)
    }

    /// Names the generic password with this value, in JSON, as its secret.
    public init(
        service: String, account: String = "", accessControl: AccessControl? = nil, in keychain: Keychain = .default
    ) {
        self.init(GenericPassword(service: service, account: account, accessControl: accessControl), in: keychain)
    }
}

/// How the last access to a property ended, shared by the copies of its wrapper.
private final class AccessLog: Sendable {
    enum Access {
        case read, change
    }

    private struct Last {
        var access: Access
        var error: KeychainError?
    }

    private let last = SystemMutex(Last(access: .change))

    var lastError: KeychainError? { last.withLock { $0.error } }

    /// The error of the last access, if that was a read.
    var failureOfRead: KeychainError? { last.withLock { $0.access == .read ? $0.error : nil } }

    func recording<Result>(
        _ access: Access, _ body: () throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        do throws(KeychainError) {
            let result = try body()
            last.withLock { $0 = Last(access: access) }
            return result
        } catch {
            last.withLock { $0 = Last(access: access, error: error) }
            throw error
        }
    }
}
