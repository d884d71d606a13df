// SPDX-License-Identifier: Apache-2.0

internal import SystemBus

/// The introspection data of an object, in the format of the D-Bus specification, made from the
/// tables of its interfaces.
struct IntrospectionText {
    let text: String

    /// - Parameter children: the names of the objects below, of letters, digits and `_`. The items of a collection are
    ///   not among them: there may be a million.
    init(_ interfaces: [InterfaceDescription], children: [String]) {
        var lines = [
            "<!DOCTYPE node PUBLIC \"-//freedesktop//DTD D-BUS Object Introspection 1.0//EN\"",
            " \"http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd\">", "<node>",
        ]
        for interface in interfaces { lines += Self.lines(interface) }
        lines += children.map { " <node name=\"\($0)\"/>" }
        lines.append("</node>")
        text = lines.joined(separator: "\n") + "\n"
    }

    private static func lines(_ interface: InterfaceDescription) -> [String] {
        var lines = [" <interface name=\"\(interface.name)\">"]
        for method in interface.methods {
            lines.append("  <method name=\"\(method.name)\">")
            lines += method.arguments.map { argument($0, "in") } + method.results.map { argument($0, "out") }
            lines.append("  </method>")
        }
        for signal in interface.signals {
            lines.append("  <signal name=\"\(signal.name)\">")
            lines += signal.arguments.map { argument($0, nil) }
            lines.append("  </signal>")
        }
        for property in interface.properties { lines += self.lines(property) }
        return lines + [" </interface>"]
    }

    private static func lines(_ property: InterfaceDescription.Property) -> [String] {
        let access = property.isWritable ? "readwrite" : "read"
        let head = "  <property name=\"\(property.name)\" type=\"\(property.type.code)\" access=\"\(access)\""
        guard property.isAnnouncedWithoutValue else { return ["\(head)/>"] }
        return [
            "\(head)>",
            "   <annotation name=\"org.freedesktop.DBus.Property.EmitsChangedSignal\" value=\"invalidates\"/>",
            "  </property>",
        ]
    }

    private static func argument(_ argument: InterfaceDescription.Argument, _ direction: String?) -> String {
        let direction = direction.map { " direction=\"\($0)\"" } ?? ""
        return "   <arg name=\"\(argument.name)\" type=\"\(argument.type.code)\"\(direction)/>"
    }
}
