// SPDX-License-Identifier: Apache-2.0

/// A method of an object of a peer.
public struct BusMethod: Hashable, Sendable {
    public var destination: BusName
    public var path: ObjectPath
    public var interface: String
    public var member: String

    public init(_ destination: BusName, _ path: ObjectPath, _ interface: String, _ member: String) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
    }

    /// A method of the bus itself.
    public static func bus(_ member: String) -> BusMethod {
        BusMethod(.bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", member)
    }
}

// MARK: CustomStringConvertible

extension BusMethod: CustomStringConvertible {
    /// `org.freedesktop.login1.Manager.Inhibit`.
    public var description: String { "\(interface).\(member)" }
}
