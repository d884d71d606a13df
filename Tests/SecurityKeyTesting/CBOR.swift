// SPDX-License-Identifier: Apache-2.0

/// A value of CBOR (RFC 8949), as far as CTAP 2 uses it. The order of a map is kept: the writer
/// must give it in CTAP's canonical order.
enum CBOR: Hashable {
    case integer(Int)
    case bytes([UInt8])
    case text(String)
    case array([CBOR])
    case map([Pair])
    case bool(Bool)

    struct Pair: Hashable {
        let key: CBOR
        let value: CBOR

        init(_ key: CBOR, _ value: CBOR) {
            self.key = key
            self.value = value
        }
    }

    static func map(_ pairs: KeyValuePairs<Int, CBOR>) -> CBOR {
        .map(pairs.map { Pair(.integer($0.key), $0.value) })
    }

    static func map(named pairs: KeyValuePairs<String, CBOR>) -> CBOR {
        .map(pairs.map { Pair(.text($0.key), $0.value) })
    }

    // MARK: Access

    subscript(key: Int) -> CBOR? { self[.integer(key)] }
    subscript(name: String) -> CBOR? { self[.text(name)] }

    private subscript(key: CBOR) -> CBOR? {
        guard case .map(let pairs) = self else { return nil }
        return pairs.first { $0.key == key }?.value
    }

    var integer: Int? { if case .integer(let value) = self { value } else { nil } }
    var bytes: [UInt8]? { if case .bytes(let value) = self { value } else { nil } }
    var text: String? { if case .text(let value) = self { value } else { nil } }
    var array: [CBOR]? { if case .array(let value) = self { value } else { nil } }
    var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    // MARK: Encoding

    var encoded: [UInt8] {
        switch self {
        case .integer(let value): value < 0 ? Self.head(1, -1 - value) : Self.head(0, value)
        case .bytes(let bytes): Self.head(2, bytes.count) + bytes
        case .text(let text): Self.head(3, text.utf8.count) + text.utf8
        case .array(let values): Self.head(4, values.count) + values.flatMap(\.encoded)
        case .map(let pairs): Self.head(5, pairs.count) + pairs.flatMap { $0.key.encoded + $0.value.encoded }
        case .bool(let value): [value ? 0xF5 : 0xF4]
        }
    }

    /// The first bytes of a value: its type, and its number or length.
    static func head(_ type: UInt8, _ number: Int) -> [UInt8] {
        let first = type << 5
        switch number {
        case ..<24: return [first | UInt8(number)]
        case ..<0x100: return [first | 24, UInt8(number)]
        case ..<0x1_0000: return [first | 25, UInt8(number >> 8), UInt8(number & 0xFF)]
        default: return [first | 27] + (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
        }
    }

    // MARK: Decoding

    /// Reads one value that uses all bytes; nil if they are not well formed.
    init?(_ bytes: some Collection<UInt8>) {
        var rest = Array(bytes)[...]
        guard let value = Self.read(&rest, depth: 0), rest.isEmpty else { return nil }
        self = value
    }

    private static func read(_ rest: inout ArraySlice<UInt8>, depth: Int) -> CBOR? {
        guard depth < 8, let first = rest.popFirst() else { return nil }
        if first == 0xF4 || first == 0xF5 { return .bool(first == 0xF5) }
        guard let number = readNumber(first & 0x1F, &rest) else { return nil }
        switch first >> 5 {
        case 0: return .integer(number)
        case 1: return .integer(-1 - number)
        case 2: return take(number, &rest).map { .bytes($0) }
        case 3: return take(number, &rest).map { .text(String(decoding: $0, as: UTF8.self)) }
        case 4, 5:
            let isMap = first >> 5 == 5
            guard number <= rest.count else { return nil }
            var values: [CBOR] = []
            for _ in 0..<(isMap ? 2 * number : number) {
                guard let value = read(&rest, depth: depth + 1) else { return nil }
                values.append(value)
            }
            guard isMap else { return .array(values) }
            return .map((0..<number).map { Pair(values[2 * $0], values[2 * $0 + 1]) })
        default: return nil
        }
    }

    private static func readNumber(_ short: UInt8, _ rest: inout ArraySlice<UInt8>) -> Int? {
        guard short >= 24 else { return Int(short) }
        guard short <= 26, let bytes = take(1 << (Int(short) - 24), &rest) else { return nil }
        return bytes.reduce(0) { $0 << 8 | Int($1) }
    }

    private static func take(_ count: Int, _ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }
}
