// SPDX-License-Identifier: Apache-2.0

internal import CSystemd
internal import Glibc
internal import LinuxSystem
internal import SecretMemory

/// Reads the content of a received message into values, within the limits. Used on the thread of
/// the bus only.
struct MessageDecoder {
    private let message: OpaquePointer
    /// Whether byte arrays become secrets.
    private let holdsSecrets: Bool
    private var budget: MessageBudget

    /// The content of a message, and at least the memory that it uses, in bytes.
    struct Content: Sendable {
        let values: [BusValue]
        let cost: Int
    }

    /// Decodes the whole message.
    ///
    /// - Parameter types: the expected types; nil to accept all.
    static func content(
        of message: OpaquePointer, types: [BusType]?, limits: BusLimits, holdsSecrets: Bool
    ) throws(BusError) -> Content {
        if holdsSecrets { sd_bus_message_sensitive(message) }
        let text = sd_bus_message_get_signature(message, 1).map { String(cString: $0) } ?? ""
        let signature = try BusSignature(parsing: text)
        if let types, signature.types != types {
            throw .unexpected(expected: "'\(BusSignature(types))'", found: "'\(text)'")
        }
        sd_bus_message_rewind(message, 1)
        var decoder = MessageDecoder(message: message, holdsSecrets: holdsSecrets, budget: MessageBudget(limits))
        try decoder.budget.spend(types: text)
        var values: [BusValue] = []
        for type in signature.types { values.append(try decoder.value(type, depth: 0)) }
        return Content(values: values, cost: decoder.budget.cost)
    }

    private mutating func value(_ type: BusType, depth: Int) throws(BusError) -> BusValue {
        try budget.spendValue(depth: depth)
        switch type {
        case .byte: return .byte(try number(type, 0))
        // A Boolean is an `int` in the interface of libsystemd.
        case .boolean: return .boolean(try number(type, Int32(0)) != 0)
        case .int16: return .int16(try number(type, 0))
        case .uint16: return .uint16(try number(type, 0))
        case .int32: return .int32(try number(type, 0))
        case .uint32: return .uint32(try number(type, 0))
        case .int64: return .int64(try number(type, 0))
        case .uint64: return .uint64(try number(type, 0))
        case .double: return .double(try number(type, 0))
        case .string: return .string(try text(type))
        case .objectPath: return .objectPath(try ObjectPath(validating: try text(type)))
        case .signature: return .signature(try signature(try text(type)))
        case .descriptor: return .descriptor(try descriptor())
        case .variant: return try variant(depth: depth)
        case .array(.byte): return try bytes()
        case .array(let element): return .array(of: element, try array(of: element, depth: depth))
        case .dictionary(let key, let value): return try dictionary(key, value, depth: depth)
        case .structure(let fields): return .structure(try structure(fields, depth: depth))
        }
    }

    // MARK: Basic types

    private func number<Number: BitwiseCopyable>(_ type: BusType, _ zero: Number) throws(BusError) -> Number {
        var number = zero
        try require(sd_bus_message_read_basic(message, type.character, &number), type)
        return number
    }

    private mutating func text(_ type: BusType) throws(BusError) -> String {
        var pointer: UnsafePointer<CChar>?
        try require(sd_bus_message_read_basic(message, type.character, &pointer), type)
        guard let pointer else { throw .unexpected(expected: type.code, found: "no text") }
        try budget.spend(bytes: strlen(pointer))
        guard let text = String(validatingCString: pointer) else {
            throw .unexpected(expected: type.code, found: "a text that is not UTF-8")
        }
        return text
    }

    /// Parses types that the message describes.
    private mutating func signature(_ text: String) throws(BusError) -> BusSignature {
        try budget.spend(types: text)
        return try BusSignature(parsing: text)
    }

    private mutating func descriptor() throws(BusError) -> BusDescriptor {
        try budget.spendDescriptor()
        // The descriptor belongs to the message.
        return try BusDescriptor(copying: try number(.descriptor, -1 as Int32))
    }

    // MARK: Containers

    private mutating func bytes() throws(BusError) -> BusValue {
        var start: UnsafeRawPointer?
        var count = 0
        try require(
            sd_bus_message_read_array(message, BusType.byte.character, &start, &count), .array(.byte))
        try budget.spend(bytes: count)
        let content = UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
        return holdsSecrets ? .secret(SharedSecret(copying: content)) : .bytes(Array(content))
    }

    private mutating func array(of element: BusType, depth: Int) throws(BusError) -> [BusValue] {
        try enter("a", element.code)
        var elements: [BusValue] = []
        while try !isAtEnd() { elements.append(try value(element, depth: depth + 1)) }
        try exit()
        return elements
    }

    private mutating func dictionary(_ key: BusType, _ value: BusType, depth: Int) throws(BusError) -> BusValue {
        let content = "\(key.code)\(value.code)"
        try enter("a", "{\(content)}")
        var entries: [BusValue.Entry] = []
        while try !isAtEnd() {
            try enter("e", content)
            let name = try self.value(key, depth: depth + 1)
            entries.append(BusValue.Entry(name, try self.value(value, depth: depth + 1)))
            try exit()
        }
        try exit()
        return .dictionary(key: key, value: value, entries)
    }

    private mutating func structure(_ types: [BusType], depth: Int) throws(BusError) -> [BusValue] {
        try enter("r", types.map(\.code).joined())
        var fields: [BusValue] = []
        for type in types { fields.append(try value(type, depth: depth + 1)) }
        try exit()
        return fields
    }

    private mutating func variant(depth: Int) throws(BusError) -> BusValue {
        var content: UnsafePointer<CChar>?
        try require(sd_bus_message_peek_type(message, nil, &content), .variant)
        let text = content.map { String(cString: $0) } ?? ""
        let types = try signature(text).types
        guard types.count == 1, let type = types.first else {
            throw .unexpected(expected: "a variant of one type", found: "'\(text)'")
        }
        try enter("v", text)
        let value = try value(type, depth: depth + 1)
        try exit()
        return .variant(value)
    }

    private func enter(_ container: Unicode.Scalar, _ content: String) throws(BusError) {
        // 0 means that the message ends before the container.
        guard sd_bus_message_enter_container(message, CChar(truncatingIfNeeded: container.value), content) > 0 else {
            throw .unexpected(expected: "'\(content)' in a container", found: "other content")
        }
    }

    private func exit() throws(BusError) {
        guard sd_bus_message_exit_container(message) >= 0 else {
            throw .unexpected(expected: "the end of a container", found: "more content")
        }
    }

    private func isAtEnd() throws(BusError) -> Bool {
        let status = sd_bus_message_at_end(message, 0)
        guard status >= 0 else { throw .unexpected(expected: "an array", found: "damaged content") }
        return status > 0
    }

    private func require(_ status: Int32, _ type: BusType) throws(BusError) {
        guard status > 0 else {
            throw .unexpected(expected: "'\(type)'", found: status == 0 ? "the end" : "damaged content")
        }
    }
}

extension BusType {
    /// The first character of the code, as libsystemd's functions take it.
    var character: CChar { CChar(truncatingIfNeeded: firstCode) }
}
