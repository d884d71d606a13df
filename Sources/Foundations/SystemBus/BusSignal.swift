// SPDX-License-Identifier: Apache-2.0

internal import CSystemd

/// A signal that was received.
public struct BusSignal: Sendable {
    /// The unique name of the sender; ``BusName/bus`` for the bus itself.
    public let sender: BusName
    public let path: ObjectPath
    public let interface: String
    public let member: String
    /// The content, with the types of the ``SignalRule``.
    public let content: BusFields

    /// nil if the header is incomplete.
    init?(_ message: OpaquePointer, _ values: [BusValue]) {
        guard let sender = BusName(senderOf: message), let path = ObjectPath(of: message),
            let interface = sd_bus_message_get_interface(message), let member = sd_bus_message_get_member(message)
        else { return nil }
        self.sender = sender
        self.path = path
        self.interface = String(cString: interface)
        self.member = String(cString: member)
        content = BusFields(values)
    }
}

/// A rule that selects the signals to receive.
public struct SignalRule: Sendable {
    /// A unique name, a name that a connection requested, or nil for every sender.
    ///
    /// A signal under a requested name is received only from the connection that owns the name at
    /// that time: a bus also delivers signals that other connections send to this one directly.
    public var sender: BusName?
    public var interface: String
    public var member: String
    /// The object, or all objects at and below a path; nil for all objects.
    public var path: Path?
    /// The first argument; nil for all.
    public var firstArgument: String?
    /// The types of the content. Signals with other content are ignored.
    public var types: [BusType]

    public enum Path: Hashable, Sendable {
        case object(ObjectPath)
        case below(ObjectPath)
    }

    public init(
        from sender: BusName?, _ interface: String, _ member: String, path: Path? = nil, firstArgument: String? = nil,
        types: [BusType]
    ) {
        self.sender = sender
        self.interface = interface
        self.member = member
        self.path = path
        self.firstArgument = firstArgument
        self.types = types
    }

    /// The rule in the syntax of the bus.
    ///
    /// - Throws: ``BusError/invalid(_:)`` if the interface or the member is not a name.
    func text() throws(BusError) -> String {
        guard sd_bus_interface_name_is_valid(interface) > 0 else {
            throw .invalid("'\(interface)' is not the name of an interface")
        }
        guard sd_bus_member_name_is_valid(member) > 0 else {
            throw .invalid("'\(member)' is not the name of a signal")
        }
        var parts = ["type='signal'", "interface='\(interface)'", "member='\(member)'"]
        if let sender { parts.append("sender='\(sender)'") }
        switch path {
        case .object(let path): parts.append("path='\(path)'")
        case .below(let path): parts.append("path_namespace='\(path)'")
        case nil: break
        }
        if let firstArgument { parts.append("arg0='\(try Self.quoted(firstArgument))'") }
        return parts.joined(separator: ",")
    }

    private static func quoted(_ text: String) throws(BusError) -> String {
        guard text.utf8.allSatisfy({ (0x20...0x7E).contains($0) && ![0x27, 0x5C].contains($0) }) else {
            throw .invalid("a first argument with quotes, backslashes or characters outside of ASCII")
        }
        return text
    }
}

extension BusName {
    /// The sender of a message, as the bus reports it; nil if the message has none.
    init?(senderOf message: OpaquePointer) {
        guard let text = sd_bus_message_get_sender(message),
            let name = try? BusName(validating: String(cString: text))
        else { return nil }
        self = name
    }
}

extension ObjectPath {
    /// The object of a message; nil if the message has none.
    init?(of message: OpaquePointer) {
        guard let text = sd_bus_message_get_path(message),
            let path = try? ObjectPath(validating: String(cString: text))
        else { return nil }
        self = path
    }
}
