// SPDX-License-Identifier: Apache-2.0

/// Reads the content of a message or of a structure, field by field.
///
/// ```swift
/// var fields = try bus.call(inhibit, returning: [.descriptor])
/// let inhibitor = try fields.next(BusDescriptor.self)
/// ```
public struct BusFields: Sendable {
    private var rest: ArraySlice<BusValue>

    public init(_ values: [BusValue]) { rest = ArraySlice(values) }

    /// Returns the next field.
    ///
    /// - Throws: ``BusError/unexpected(expected:found:)`` if there is no field, or one of another
    ///   type.
    public mutating func next<Value: BusRepresentable>(_ type: Value.Type = Value.self) throws(BusError) -> Value {
        let field = try nextValue(expecting: Value.busType.code)
        guard let value = Value.from(field) else {
            throw .unexpected(expected: Value.busType.code, found: field.type.code)
        }
        return value
    }

    /// Returns a reader for the next field, a structure.
    public mutating func nextStructure() throws(BusError) -> BusFields {
        let field = try nextValue(expecting: "a structure")
        guard case .structure(let fields) = field else {
            throw .unexpected(expected: "a structure", found: field.type.code)
        }
        return BusFields(fields)
    }

    /// Returns a reader for each element of the next field, an array of structures.
    public mutating func nextStructures() throws(BusError) -> [BusFields] {
        let field = try nextValue(expecting: "an array of structures")
        guard case .array(.structure, let elements) = field else {
            throw .unexpected(expected: "an array of structures", found: field.type.code)
        }
        return elements.compactMap { if case .structure(let fields) = $0 { BusFields(fields) } else { nil } }
    }

    /// Returns the next field, of any type.
    public mutating func nextValue() throws(BusError) -> BusValue { try nextValue(expecting: "a value") }

    /// The next field, without reading it; nil if there is none.
    public var first: BusValue? { rest.first }

    /// The fields that were not read.
    public var remaining: [BusValue] { Array(rest) }

    private mutating func nextValue(expecting expected: String) throws(BusError) -> BusValue {
        guard let field = rest.popFirst() else { throw .unexpected(expected: expected, found: "the end") }
        return field
    }
}
