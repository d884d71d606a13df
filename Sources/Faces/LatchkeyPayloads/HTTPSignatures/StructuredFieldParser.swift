// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// Parses structured fields (RFC 9651, section 4.2): every text is a value, or an error that names the text that was
/// found.
struct StructuredFieldParser {
    /// The longest field, in bytes, the most members of a list or dictionary, and the most
    /// parameters of an item.
    static let (maxLength, maxMembers, maxParameters) = (64 * 1024, 256, 64)

    private var rest: ArraySlice<UInt8>
    private let rejectsDuplicates: Bool

    /// - Parameter rejectsDuplicates: whether a key that occurs twice is an error. RFC 9651 uses the
    ///   last value; where two readers must see the same value, a duplicate is an attack.
    private init(_ text: String, rejectsDuplicates: Bool) throws(KeychainError) {
        guard text.utf8.count <= Self.maxLength else {
            throw .structured("a structured field has at most \(Self.maxLength) bytes, found \(text.utf8.count)")
        }
        rest = Array(text.utf8)[...]
        self.rejectsDuplicates = rejectsDuplicates
    }

    static func dictionary(_ text: String, rejectsDuplicates: Bool) throws(KeychainError) -> StructuredDictionary {
        try parse(text, rejectsDuplicates: rejectsDuplicates) { (parser) throws(KeychainError) in
            try parser.dictionary()
        }
    }

    static func list(_ text: String) throws(KeychainError) -> [StructuredMember] {
        try parse(text, rejectsDuplicates: false) { (parser) throws(KeychainError) in try parser.list() }
    }

    static func item(_ text: String) throws(KeychainError) -> StructuredItem {
        try parse(text, rejectsDuplicates: false) { (parser) throws(KeychainError) in try parser.item() }
    }

    private static func parse<Value>(
        _ text: String, rejectsDuplicates: Bool, _ body: (inout Self) throws(KeychainError) -> Value
    ) throws(KeychainError) -> Value {
        var parser = try Self(text, rejectsDuplicates: rejectsDuplicates)
        parser.skip { $0 == 0x20 }
        let value = try body(&parser)
        parser.skip { $0 == 0x20 }
        if let next = parser.rest.first {
            throw .structured("expected the end of the field, found \(describe(next))")
        }
        return value
    }
}

// MARK: Bytes

extension StructuredFieldParser {
    private mutating func skip(while condition: (UInt8) -> Bool) { rest = rest.drop(while: condition) }

    private mutating func next(_ expected: String) throws(KeychainError) -> UInt8 {
        guard let byte = rest.popFirst() else { throw .structured("expected \(expected), found the end of the field") }
        return byte
    }

    /// Reads the byte if it is the next one.
    private mutating func accept(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        _ = rest.popFirst()
        return true
    }

    private mutating func require(_ character: Unicode.Scalar) throws(KeychainError) {
        let found = try next("\"\(character)\"")
        guard found == UInt8(ascii: character) else {
            throw .structured("expected \"\(character)\", found \(Self.describe(found))")
        }
    }

    private mutating func take(while condition: (UInt8) -> Bool) -> String {
        let taken = rest.prefix(while: condition)
        rest = rest.dropFirst(taken.count)
        return String(decoding: taken, as: UTF8.self)
    }

    private static func describe(_ byte: UInt8) -> String {
        0x20...0x7E ~= byte ? "\"\(Unicode.Scalar(byte))\"" : "a byte that is not printable ASCII"
    }
}

// MARK: Containers

extension StructuredFieldParser {
    private mutating func dictionary() throws(KeychainError) -> StructuredDictionary {
        var dictionary = StructuredDictionary()
        while !rest.isEmpty {
            let key = try key()
            let member: StructuredMember =
                accept("=")
                ? try member() : .item(StructuredItem(value: .boolean(true), parameters: try parameters()))
            try requireNew(dictionary.set(key, member), key)
            guard dictionary.all.count <= Self.maxMembers else { throw Self.tooMany }
            guard try separator() else { break }
        }
        return dictionary
    }

    private mutating func list() throws(KeychainError) -> [StructuredMember] {
        var members: [StructuredMember] = []
        while !rest.isEmpty {
            members.append(try member())
            guard members.count <= Self.maxMembers else { throw Self.tooMany }
            guard try separator() else { break }
        }
        return members
    }

    /// Reads a comma and the white space around it.
    ///
    /// - Returns: false at the end of the field.
    private mutating func separator() throws(KeychainError) -> Bool {
        skip { $0 == 0x20 || $0 == 0x09 }
        guard !rest.isEmpty else { return false }
        try require(",")
        skip { $0 == 0x20 || $0 == 0x09 }
        guard !rest.isEmpty else { throw .structured("expected a member after \",\", found the end of the field") }
        return true
    }

    private mutating func member() throws(KeychainError) -> StructuredMember {
        guard accept("(") else { return .item(try item()) }
        var items: [StructuredItem] = []
        while true {
            skip { $0 == 0x20 }
            if accept(")") { return .innerList(items, try parameters()) }
            items.append(try item())
            guard items.count <= Self.maxMembers else { throw Self.tooMany }
            guard let next = rest.first, next == 0x20 || next == UInt8(ascii: ")") else {
                throw .structured("expected \" \" or \")\" in an inner list")
            }
        }
    }

    private mutating func item() throws(KeychainError) -> StructuredItem {
        StructuredItem(value: try value(), parameters: try parameters())
    }

    private mutating func parameters() throws(KeychainError) -> StructuredParameters {
        var parameters = StructuredParameters()
        while accept(";") {
            skip { $0 == 0x20 }
            let key = try key()
            try requireNew(parameters.set(key, accept("=") ? try value() : .boolean(true)), key)
            guard parameters.all.count <= Self.maxParameters else { throw Self.tooMany }
        }
        return parameters
    }

    private func requireNew(_ isNew: Bool, _ key: String) throws(KeychainError) {
        guard isNew || !rejectsDuplicates else { throw .structured("the key \"\(key)\" occurs twice") }
    }

    private static var tooMany: KeychainError {
        .structured("a structured field has at most \(maxMembers) members and \(maxParameters) parameters")
    }

    private mutating func key() throws(KeychainError) -> String {
        guard let first = rest.first, first.isLowercaseLetter || first == UInt8(ascii: "*") else {
            throw .structured(
                "expected a key in lowercase letters, found \(rest.first.map(Self.describe) ?? "the end of the field")")
        }
        return take { $0.isLowercaseLetter || $0.isDigit || "_-.*".utf8.contains($0) }
    }
}

// MARK: Values

extension StructuredFieldParser {
    private mutating func value() throws(KeychainError) -> StructuredValue {
        guard let first = rest.first else { throw .structured("expected a value, found the end of the field") }
        switch first {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: ":"): return .bytes(try bytes())
        case UInt8(ascii: "?"): return .boolean(try boolean())
        case UInt8(ascii: "@"): return .date(try date())
        case UInt8(ascii: "%"): return .displayString(try displayString())
        case UInt8(ascii: "-"): return try number()
        case _ where first.isDigit: return try number()
        case _ where first.isLetter || first == UInt8(ascii: "*"):
            return .token(take { $0.isTokenCharacter || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") })
        default: throw .structured("expected a value, found \(Self.describe(first))")
        }
    }

    private mutating func number() throws(KeychainError) -> StructuredValue {
        let sign: Int64 = accept("-") ? -1 : 1
        let whole = take(while: \.isDigit)
        let isDecimal = accept(".")
        guard let number = Int64(whole), whole.utf8.count <= (isDecimal ? 12 : 15) else {
            throw .structured("expected a number of at most 15 digits, 12 before a point")
        }
        guard isDecimal else { return .integer(sign * number) }
        let fraction = take(while: \.isDigit)
        guard 1...3 ~= fraction.utf8.count, let thousandths = Int64((fraction + "00").prefix(3)) else {
            throw .structured("a decimal number must have 1 to 3 digits after the point")
        }
        return .decimal(thousandths: sign * (number * 1000 + thousandths))
    }

    private mutating func string() throws(KeychainError) -> String {
        try require("\"")
        var text: [UInt8] = []
        while true {
            let byte = try next("the end of a string")
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                let escaped = try next("an escaped character")
                guard escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\") else {
                    throw .structured("a string escapes only \\ and \", found \(Self.describe(escaped))")
                }
                text.append(escaped)
            case 0x20...0x7E: text.append(byte)
            default: throw .structured("a string must be printable ASCII")
            }
        }
    }

    private mutating func bytes() throws(KeychainError) -> [UInt8] {
        try require(":")
        let text = take { $0 != UInt8(ascii: ":") }
        try require(":")
        guard let bytes = Base64.bytes(text.utf8) else {
            throw .structured("a byte sequence must be base64 with padding")
        }
        return bytes
    }

    private mutating func boolean() throws(KeychainError) -> Bool {
        try require("?")
        if accept("1") { return true }
        try require("0")
        return false
    }

    private mutating func date() throws(KeychainError) -> Int64 {
        try require("@")
        guard case .integer(let seconds) = try number() else {
            throw .structured("a date must be a whole number of seconds")
        }
        return seconds
    }

    private mutating func displayString() throws(KeychainError) -> String {
        try require("%")
        try require("\"")
        var bytes: [UInt8] = []
        while true {
            let byte = try next("the end of a display string")
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    throw .structured("a display string must be UTF-8")
                }
                return text
            case UInt8(ascii: "%"):
                let (high, low) = (try next("a hexadecimal digit"), try next("a hexadecimal digit"))
                guard let value = Hexadecimal.byte(high, low) else {
                    throw .structured("expected two lowercase hexadecimal digits after \"%\"")
                }
                bytes.append(value)
            case 0x20...0x7E: bytes.append(byte)
            default: throw .structured("a display string must be printable ASCII")
            }
        }
    }
}

extension KeychainError {
    fileprivate static func structured(_ problem: String) -> KeychainError { KeychainError(.param, problem) }
}

extension UInt8 {
    var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }
    var isLowercaseLetter: Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= self }
    var isLetter: Bool { isLowercaseLetter || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self }
    /// `tchar` of RFC 9110, section 5.6.2.
    var isTokenCharacter: Bool { isLetter || isDigit || "!#$%&'*+-.^_`|~".utf8.contains(self) }
}
