// SPDX-License-Identifier: Apache-2.0

internal import SystemBus

/// The properties of an object. Each must have its type.
struct RemoteProperties {
    private let values: [String: BusVariant]

    init(_ values: [String: BusVariant]) { self.values = values }

    /// - Throws: ``SecretServiceClientError/malformed(_:)`` if the property is missing, or has another type.
    func value<Value: BusRepresentable>(
        _ name: String, as type: Value.Type = Value.self
    ) throws(SecretServiceClientError) -> Value {
        guard let variant = values[name] else { throw Self.missing(name) }
        guard let value = variant.content(as: Value.self) else { throw Self.wrongType(name, Value.busType, variant) }
        return value
    }

    /// Reads seconds since 1970; 0 if the property is missing.
    func time(_ name: String) throws(SecretServiceClientError) -> UInt64 {
        guard values[name] != nil else { return 0 }
        return try value(name, as: UInt64.self)
    }

    /// Reads names with values. They are not a Swift dictionary: different texts can be equal strings.
    func attributes(_ name: String) throws(SecretServiceClientError) -> [RemoteItem.Attribute] {
        guard let variant = values[name] else { throw Self.missing(name) }
        guard case .dictionary(.string, .string, let entries) = variant.content else {
            throw Self.wrongType(name, .dictionary(key: .string, value: .string), variant)
        }
        return entries.compactMap { entry in
            guard case .string(let name) = entry.key, case .string(let value) = entry.value else { return nil }
            return RemoteItem.Attribute(name: name, value: value)
        }
    }

    private static func missing(_ name: String) -> SecretServiceClientError {
        .malformed("expected the property \(name), found none")
    }

    private static func wrongType(_ name: String, _ type: BusType, _ found: BusVariant) -> SecretServiceClientError {
        .malformed("expected the property \(name) of '\(type)', found '\(found.content.type)'")
    }
}
