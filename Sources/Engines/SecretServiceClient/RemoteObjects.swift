// SPDX-License-Identifier: Apache-2.0

public import SecretMemory
public import SystemBus

/// A collection of a service.
public struct RemoteCollection: Hashable, Sendable {
    public let path: ObjectPath
    public let label: String
    public let isLocked: Bool
    /// Of a locked collection, a service may list none.
    public let items: [ObjectPath]
}

/// An item of a service, without its secret.
public struct RemoteItem: Hashable, Sendable {
    public let path: ObjectPath
    public let label: String
    /// In the order of the service; a name may occur twice.
    public let attributes: [Attribute]
    /// In seconds since 1970; 0 if it is unknown.
    public let created: UInt64
    /// In seconds since 1970; 0 if it is unknown.
    public let modified: UInt64

    /// Names and values are texts without a meaning to the service.
    public struct Attribute: Hashable, Sendable {
        public let name: String
        public let value: String
    }

    /// The bytes of the texts.
    public var textByteCount: Int {
        attributes.reduce(label.utf8.count) { $0 &+ $1.name.utf8.count &+ $1.value.utf8.count }
    }
}

/// The secret of an item.
public struct RemoteSecret: Equatable, Sendable {
    public let bytes: SharedSecret
    /// The content type that the service states, for example `text/plain`.
    public let contentType: String
}

/// How the request to unlock a collection has ended.
public enum UnlockOutcome: Hashable, Sendable {
    case unlocked
    /// The person, or the service itself, has ended the prompt.
    case dismissed
    /// The prompt was not answered in time, and was ended.
    case timedOut
}
