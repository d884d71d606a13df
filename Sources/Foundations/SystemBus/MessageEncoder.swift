// SPDX-License-Identifier: Apache-2.0

internal import CSystemd
internal import Glibc
internal import LinuxSystem
internal import SecretMemory

/// Appends values to a message that is to be sent, within the limits. Used on the thread of the bus
/// only.
struct MessageEncoder {
    private let message: OpaquePointer
    private var budget: MessageBudget

    /// - Returns: about the bytes of the message.
    @discardableResult
    static func append(
        _ values: [BusValue], to message: OpaquePointer, limits: BusLimits
    ) throws(BusError) -> Int {
        // Before the content is appended, so that it is wiped even if this fails.
        if values.contains(where: \.hasSecrets) {
            try require(sd_bus_message_sensitive(message), "a message with secrets")
        }
        var encoder = MessageEncoder(message: message, budget: MessageBudget(sending: limits))
        for value in values { try encoder.append(value, depth: 0) }
        return encoder.budget.encodedCount
    }

    private mutating func append(_ value: BusValue, depth: Int) throws(BusError) {
        try budget.spendValue(depth: depth)
        switch value {
        case .byte(let number): try append(number, .byte)
        case .boolean(let truth): try append(truth ? 1 : 0 as Int32, .boolean)
        case .int16(let number): try append(number, .int16)
        case .uint16(let number): try append(number, .uint16)
        case .int32(let number): try append(number, .int32)
        case .uint32(let number): try append(number, .uint32)
        case .int64(let number): try append(number, .int64)
        case .uint64(let number): try append(number, .uint64)
        case .double(let number): try append(number, .double)
        case .string(let text): try append(text, .string)
        case .objectPath(let path): try append(path.text, .objectPath)
        case .signature(let signature): try append(signature.text, .signature)
        case .descriptor(let descriptor):
            try budget.spendDescriptor()
            // libsystemd copies the descriptor.
            try append(descriptor.rawValue, .descriptor)
        case .variant(let content): try append(variant: content, depth: depth)
        case .bytes(let bytes):
            try budget.spend(bytes: bytes.count)
            try Self.require(bytes.withUnsafeBytes(append), "'ay'")
        case .secret(let secret):
            try budget.spend(bytes: secret.count)
            // EXPOSE: the message is marked as sensitive, and wiped by libsystemd when it was sent.
            try Self.require(secret.withUnsafeBytes(append), "'ay'")
        case .array(let element, let elements): try append(elements, of: element, depth: depth)
        case .dictionary(let key, let value, let entries): try append(entries, key, value, depth: depth)
        case .structure(let fields): try append(fields, depth: depth)
        }
    }

    // MARK: Basic types

    private func append<Number: BitwiseCopyable>(_ number: Number, _ type: BusType) throws(BusError) {
        var number = number
        try Self.require(sd_bus_message_append_basic(message, type.character, &number), "'\(type)'")
    }

    private mutating func append(_ text: String, _ type: BusType) throws(BusError) {
        guard !text.utf8.contains(0) else { throw .invalid("a text with the character NUL") }
        try budget.spend(bytes: text.utf8.count)
        try Self.require(text.withCString { sd_bus_message_append_basic(message, type.character, $0) }, "'\(type)'")
    }

    // MARK: Containers

    private func append(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        sd_bus_message_append_array(message, BusType.byte.character, bytes.baseAddress, bytes.count)
    }

    private mutating func append(variant content: BusValue, depth: Int) throws(BusError) {
        try open("v", content.type.code)
        try append(content, depth: depth + 1)
        try close()
    }

    private mutating func append(_ elements: [BusValue], of type: BusType, depth: Int) throws(BusError) {
        try open("a", type.code)
        for element in elements {
            try Self.require(element, type)
            try append(element, depth: depth + 1)
        }
        try close()
    }

    private mutating func append(
        _ entries: [BusValue.Entry], _ key: BusType, _ value: BusType, depth: Int
    ) throws(BusError) {
        let content = "\(key.code)\(value.code)"
        try open("a", "{\(content)}")
        for entry in entries {
            try Self.require(entry.key, key)
            try Self.require(entry.value, value)
            try open("e", content)
            try append(entry.key, depth: depth + 1)
            try append(entry.value, depth: depth + 1)
            try close()
        }
        try close()
    }

    private mutating func append(_ fields: [BusValue], depth: Int) throws(BusError) {
        guard !fields.isEmpty else { throw .invalid("a structure without fields") }
        try open("r", fields.map(\.type.code).joined())
        for field in fields { try append(field, depth: depth + 1) }
        try close()
    }

    private func open(_ container: Unicode.Scalar, _ content: String) throws(BusError) {
        try Self.require(
            sd_bus_message_open_container(message, CChar(truncatingIfNeeded: container.value), content),
            "a container of '\(content)'")
    }

    private func close() throws(BusError) {
        try Self.require(sd_bus_message_close_container(message), "a container")
    }

    private static func require(_ value: BusValue, _ type: BusType) throws(BusError) {
        guard value.type == type else { throw .invalid("'\(value.type)' in a container of '\(type)'") }
    }

    private static func require(_ status: Int32, _ what: @autoclosure () -> String) throws(BusError) {
        guard status >= 0 else {
            throw .invalid("\(what()): \(SystemError("append to a message", code: -status).reason)")
        }
    }
}
