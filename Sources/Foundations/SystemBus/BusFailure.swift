// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The error response to a method call: a name and a text.
public struct BusFailure: Error, Hashable, Sendable {
    /// For example `org.freedesktop.DBus.Error.AccessDenied`.
    public let name: String
    /// A text for the user. A received text is printable, and at most 1,024 characters long.
    public let message: String

    public init(_ name: String, _ message: String) {
        self.name = name
        self.message = message
    }

    /// A failure that a peer sent.
    init(received name: String, _ message: String) {
        self.name = name
        self.message = PrintableText(message).string
    }

    // MARK: The names of the specification

    public static func failed(_ message: String) -> Self { Self("org.freedesktop.DBus.Error.Failed", message) }
    public static func accessDenied(_ message: String) -> Self {
        Self("org.freedesktop.DBus.Error.AccessDenied", message)
    }
    public static func invalidArguments(_ message: String) -> Self {
        Self("org.freedesktop.DBus.Error.InvalidArgs", message)
    }
    public static func limitsExceeded(_ message: String) -> Self {
        Self("org.freedesktop.DBus.Error.LimitsExceeded", message)
    }
    public static func notSupported(_ message: String) -> Self {
        Self("org.freedesktop.DBus.Error.NotSupported", message)
    }
    public static func unknownMethod(_ message: String) -> Self {
        Self("org.freedesktop.DBus.Error.UnknownMethod", message)
    }
    public static func unknownObject(_ message: String) -> Self {
        Self("org.freedesktop.DBus.Error.UnknownObject", message)
    }
    public static func unknownProperty(_ message: String) -> Self {
        Self("org.freedesktop.DBus.Error.UnknownProperty", message)
    }

    static let nameHasNoOwner = "org.freedesktop.DBus.Error.NameHasNoOwner"
}

// MARK: CustomStringConvertible

extension BusFailure: CustomStringConvertible {
    public var description: String { message.isEmpty ? name : "\(message) (\(name))" }
}
