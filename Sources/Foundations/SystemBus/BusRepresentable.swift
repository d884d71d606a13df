// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// A Swift type that stands for one type of D-Bus.
public protocol BusRepresentable: Sendable {
    static var busType: BusType { get }
    var busValue: BusValue { get }
    /// Returns the Swift value; nil if the value has another type.
    static func from(_ value: BusValue) -> Self?
}

/// A value with its type beside it (`v`).
public struct BusVariant: BusRepresentable, Equatable {
    public let content: BusValue

    public init(_ content: some BusRepresentable) { self.content = content.busValue }
    public init(_ content: BusValue) { self.content = content }

    /// Returns the content if it has this type.
    public func content<Value: BusRepresentable>(as type: Value.Type) -> Value? { Value.from(content) }

    public static var busType: BusType { .variant }
    public var busValue: BusValue { .variant(content) }
    public static func from(_ value: BusValue) -> BusVariant? {
        if case .variant(let content) = value { BusVariant(content) } else { nil }
    }
}

// MARK: Numbers

extension UInt8: BusRepresentable {
    public static var busType: BusType { .byte }
    public var busValue: BusValue { .byte(self) }
    public static func from(_ value: BusValue) -> Self? { if case .byte(let number) = value { number } else { nil } }
}

extension Bool: BusRepresentable {
    public static var busType: BusType { .boolean }
    public var busValue: BusValue { .boolean(self) }
    public static func from(_ value: BusValue) -> Self? { if case .boolean(let truth) = value { truth } else { nil } }
}

extension Int16: BusRepresentable {
    public static var busType: BusType { .int16 }
    public var busValue: BusValue { .int16(self) }
    public static func from(_ value: BusValue) -> Self? { if case .int16(let number) = value { number } else { nil } }
}

extension UInt16: BusRepresentable {
    public static var busType: BusType { .uint16 }
    public var busValue: BusValue { .uint16(self) }
    public static func from(_ value: BusValue) -> Self? { if case .uint16(let number) = value { number } else { nil } }
}

extension Int32: BusRepresentable {
    public static var busType: BusType { .int32 }
    public var busValue: BusValue { .int32(self) }
    public static func from(_ value: BusValue) -> Self? { if case .int32(let number) = value { number } else { nil } }
}

extension UInt32: BusRepresentable {
    public static var busType: BusType { .uint32 }
    public var busValue: BusValue { .uint32(self) }
    public static func from(_ value: BusValue) -> Self? { if case .uint32(let number) = value { number } else { nil } }
}

extension Int64: BusRepresentable {
    public static var busType: BusType { .int64 }
    public var busValue: BusValue { .int64(self) }
    public static func from(_ value: BusValue) -> Self? { if case .int64(let number) = value { number } else { nil } }
}

extension UInt64: BusRepresentable {
    public static var busType: BusType { .uint64 }
    public var busValue: BusValue { .uint64(self) }
    public static func from(_ value: BusValue) -> Self? { if case .uint64(let number) = value { number } else { nil } }
}

extension Double: BusRepresentable {
    public static var busType: BusType { .double }
    public var busValue: BusValue { .double(self) }
    public static func from(_ value: BusValue) -> Self? { if case .double(let number) = value { number } else { nil } }
}

// MARK: Texts and descriptors

extension String: BusRepresentable {
    public static var busType: BusType { .string }
    public var busValue: BusValue { .string(self) }
    public static func from(_ value: BusValue) -> Self? { if case .string(let text) = value { text } else { nil } }
}

extension ObjectPath: BusRepresentable {
    public static var busType: BusType { .objectPath }
    public var busValue: BusValue { .objectPath(self) }
    public static func from(_ value: BusValue) -> Self? { if case .objectPath(let path) = value { path } else { nil } }
}

extension BusSignature: BusRepresentable {
    public static var busType: BusType { .signature }
    public var busValue: BusValue { .signature(self) }
    public static func from(_ value: BusValue) -> Self? {
        if case .signature(let signature) = value { signature } else { nil }
    }
}

extension BusDescriptor: BusRepresentable {
    public static var busType: BusType { .descriptor }
    public var busValue: BusValue { .descriptor(self) }
    public static func from(_ value: BusValue) -> BusDescriptor? {
        if case .descriptor(let descriptor) = value { descriptor } else { nil }
    }
}

// MARK: Containers

extension Array: BusRepresentable where Element: BusRepresentable {
    public static var busType: BusType { .array(Element.busType) }

    public var busValue: BusValue {
        // An empty array can be cast to an array of any other type.
        if Element.self == UInt8.self, let bytes = self as? [UInt8] { return .bytes(bytes) }
        return .array(of: Element.busType, map(\.busValue))
    }

    public static func from(_ value: BusValue) -> Self? {
        if case .bytes(let bytes) = value { return Element.self == UInt8.self ? bytes as? Self : nil }
        guard case .array(Element.busType, let values) = value else { return nil }
        let elements = values.compactMap(Element.from)
        return elements.count == values.count ? elements : nil
    }
}

extension Dictionary: BusRepresentable where Key: BusRepresentable, Value: BusRepresentable {
    public static var busType: BusType { .dictionary(key: Key.busType, value: Value.busType) }

    public var busValue: BusValue {
        .dictionary(
            key: Key.busType, value: Value.busType, map { BusValue.Entry($0.key.busValue, $0.value.busValue) })
    }

    /// nil also if a key occurs twice.
    public static func from(_ value: BusValue) -> Self? {
        guard case .dictionary(Key.busType, Value.busType, let entries) = value else { return nil }
        var dictionary: Self = [:]
        for entry in entries {
            guard let key = Key.from(entry.key), let content = Value.from(entry.value),
                dictionary.updateValue(content, forKey: key) == nil
            else { return nil }
        }
        return dictionary
    }
}

extension SharedSecret: BusRepresentable {
    public static var busType: BusType { .array(.byte) }
    public var busValue: BusValue { .secret(self) }
    public static func from(_ value: BusValue) -> SharedSecret? {
        if case .secret(let secret) = value { secret } else { nil }
    }
}
