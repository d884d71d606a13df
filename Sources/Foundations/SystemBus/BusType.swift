// SPDX-License-Identifier: Apache-2.0

/// A single complete type of the D-Bus specification.
public indirect enum BusType: Hashable, Sendable {
    case byte, boolean, int16, uint16, int32, uint32, int64, uint64, double
    case string, objectPath, signature, descriptor
    case variant
    case array(BusType)
    case dictionary(key: BusType, value: BusType)
    case structure([BusType])

    /// The code in a signature, for example `a{sv}`.
    public var code: String {
        switch self {
        case .array(let element): "a\(element.code)"
        case .dictionary(let key, let value): "a{\(key.code)\(value.code)}"
        case .structure(let fields): "(\(fields.map(\.code).joined()))"
        default: String(UnicodeScalar(firstCode))
        }
    }

    /// The first character of ``code``, and all of it for types that have no parts. Each received value asks for it.
    var firstCode: UInt8 {
        switch self {
        case .byte: UInt8(ascii: "y")
        case .boolean: UInt8(ascii: "b")
        case .int16: UInt8(ascii: "n")
        case .uint16: UInt8(ascii: "q")
        case .int32: UInt8(ascii: "i")
        case .uint32: UInt8(ascii: "u")
        case .int64: UInt8(ascii: "x")
        case .uint64: UInt8(ascii: "t")
        case .double: UInt8(ascii: "d")
        case .string: UInt8(ascii: "s")
        case .objectPath: UInt8(ascii: "o")
        case .signature: UInt8(ascii: "g")
        case .descriptor: UInt8(ascii: "h")
        case .variant: UInt8(ascii: "v")
        case .array, .dictionary: UInt8(ascii: "a")
        case .structure: UInt8(ascii: "(")
        }
    }

    /// The types that have no parts; only these can be keys of a dictionary.
    var isBasic: Bool {
        switch self {
        case .variant, .array, .dictionary, .structure: false
        default: true
        }
    }

    /// The basic types by their codes.
    static let basicTypes: [UInt8: BusType] = {
        let types: [BusType] = [
            .byte, .boolean, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double, .string, .objectPath,
            .signature, .descriptor,
        ]
        return Dictionary(uniqueKeysWithValues: types.map { ($0.firstCode, $0) })
    }()
}

/// A list of types, as it describes the content of a message or of a variant.
public struct BusSignature: Hashable, Sendable {
    public let types: [BusType]

    public init(_ types: [BusType]) { self.types = types }

    /// - Throws: ``BusError/unexpected(expected:found:)`` if the text is not a signature.
    public init(parsing text: String) throws(BusError) {
        guard text.utf8.count <= Self.maxLength else {
            throw .unexpected(expected: "a signature", found: "\(text.utf8.count) characters")
        }
        var parser = SignatureParser(rest: ArraySlice(text.utf8))
        guard let types = parser.types(until: nil, Nesting()) else {
            throw .unexpected(expected: "a signature", found: "'\(text)'")
        }
        self.types = types
    }

    /// The codes of all types.
    public var text: String { types.map(\.code).joined() }

    private static let maxLength = 255
}

/// Parses the codes of types; nil for codes that are no type.
private struct SignatureParser {
    var rest: ArraySlice<UInt8>

    mutating func types(until end: UInt8?, _ nesting: Nesting) -> [BusType]? {
        var types: [BusType] = []
        while let code = rest.popFirst() {
            if code == end { return types }
            guard let type = type(code, nesting) else { return nil }
            types.append(type)
        }
        return end == nil ? types : nil
    }

    private mutating func type(_ code: UInt8, _ nesting: Nesting) -> BusType? {
        switch code {
        case UInt8(ascii: "v"): return .variant
        case UInt8(ascii: "a"): return nesting.array.flatMap { array($0) }
        case UInt8(ascii: "("):
            guard let inner = nesting.structure, let fields = types(until: UInt8(ascii: ")"), inner), !fields.isEmpty
            else { return nil }
            return .structure(fields)
        default: return BusType.basicTypes[code]
        }
    }

    private mutating func array(_ nesting: Nesting) -> BusType? {
        guard let code = rest.popFirst() else { return nil }
        guard code == UInt8(ascii: "{") else { return type(code, nesting).map(BusType.array) }
        guard let inner = nesting.structure, let parts = types(until: UInt8(ascii: "}"), inner), parts.count == 2,
            let key = parts.first, let value = parts.last, key.isBasic
        else { return nil }
        return .dictionary(key: key, value: value)
    }
}

/// How deep a type is in others, within the specification's limits: libsystemd drops a message beyond them
/// without an answer.
private struct Nesting {
    private var arrays = 0
    /// Structures, and the entries of dictionaries.
    private var structures = 0

    /// That of the elements of an array here; nil beyond the limit.
    var array: Nesting? { deeper(\.arrays) }
    /// That of the fields of a structure here; nil beyond the limit.
    var structure: Nesting? { deeper(\.structures) }

    private func deeper(_ part: WritableKeyPath<Nesting, Int>) -> Nesting? {
        var inner = self
        inner[keyPath: part] += 1
        return inner[keyPath: part] <= Self.max ? inner : nil
    }

    private static let max = 32
}

// MARK: CustomStringConvertible

extension BusType: CustomStringConvertible {
    public var description: String { code }
}

extension BusSignature: CustomStringConvertible {
    public var description: String { text }
}
