// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// A value in a message.
///
/// Most code uses Swift's types instead, by ``BusRepresentable``.
public indirect enum BusValue: Sendable, Equatable {
    case byte(UInt8)
    case boolean(Bool)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    /// Without the character NUL, because D-Bus cannot transport it.
    case string(String)
    case objectPath(ObjectPath)
    case signature(BusSignature)
    case descriptor(BusDescriptor)
    case variant(BusValue)
    /// An array of bytes.
    case bytes([UInt8])
    /// An array of bytes in wiped memory. A message with secrets is marked as sensitive, so that
    /// libsystemd wipes it too. Byte arrays are received as secrets where the caller says so.
    case secret(SharedSecret)
    /// An array of another type than bytes.
    case array(of: BusType, [BusValue])
    /// In the order of the message.
    case dictionary(key: BusType, value: BusType, [Entry])
    case structure([BusValue])

    public struct Entry: Sendable, Equatable {
        public let key: BusValue
        public let value: BusValue

        public init(_ key: BusValue, _ value: BusValue) {
            self.key = key
            self.value = value
        }
    }

    public var type: BusType {
        switch self {
        case .byte: .byte
        case .boolean: .boolean
        case .int16: .int16
        case .uint16: .uint16
        case .int32: .int32
        case .uint32: .uint32
        case .int64: .int64
        case .uint64: .uint64
        case .double: .double
        case .string: .string
        case .objectPath: .objectPath
        case .signature: .signature
        case .descriptor: .descriptor
        case .variant: .variant
        case .bytes, .secret: .array(.byte)
        case .array(let element, _): .array(element)
        case .dictionary(let key, let value, _): .dictionary(key: key, value: value)
        case .structure(let fields): .structure(fields.map(\.type))
        }
    }

    /// Whether a part of the value is a secret.
    var hasSecrets: Bool {
        switch self {
        case .secret: true
        case .variant(let content): content.hasSecrets
        case .array(_, let elements): elements.contains(where: \.hasSecrets)
        case .dictionary(_, _, let entries): entries.contains { $0.key.hasSecrets || $0.value.hasSecrets }
        case .structure(let fields): fields.contains(where: \.hasSecrets)
        default: false
        }
    }
}
