// SPDX-License-Identifier: Apache-2.0

internal import SystemBus

/// An interface of D-Bus: its methods, signals and properties, for the check of arguments and for introspection.
struct InterfaceDescription: Sendable {
    struct Argument: Sendable {
        let name: String
        let type: BusType

        init(_ name: String, _ type: BusType) { (self.name, self.type) = (name, type) }
    }

    struct Method: Sendable {
        let name: String
        let arguments: [Argument]
        let results: [Argument]

        init(_ name: String, _ arguments: [Argument] = [], returning results: [Argument] = []) {
            (self.name, self.arguments, self.results) = (name, arguments, results)
        }

        var types: [BusType] { arguments.map(\.type) }
    }

    struct Signal: Sendable {
        let name: String
        let arguments: [Argument]

        init(_ name: String, _ arguments: [Argument]) { (self.name, self.arguments) = (name, arguments) }
    }

    struct Property: Sendable {
        let name: String
        let type: BusType
        let isWritable: Bool
        /// Whether a change is announced without the new value, because the value may be large.
        let isAnnouncedWithoutValue: Bool

        init(_ name: String, _ type: BusType, isWritable: Bool = false, isAnnouncedWithoutValue: Bool = false) {
            (self.name, self.type) = (name, type)
            (self.isWritable, self.isAnnouncedWithoutValue) = (isWritable, isAnnouncedWithoutValue)
        }
    }

    let name: String
    let methods: [Method]
    let signals: [Signal]
    let properties: [Property]

    init(_ name: String, methods: [Method] = [], signals: [Signal] = [], properties: [Property] = []) {
        (self.name, self.methods, self.signals, self.properties) = (name, methods, signals, properties)
    }

    func method(_ name: String) -> Method? { methods.first { $0.name == name } }
    func property(_ name: String) -> Property? { properties.first { $0.name == name } }
}
