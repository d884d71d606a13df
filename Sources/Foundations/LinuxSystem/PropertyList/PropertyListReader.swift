// SPDX-License-Identifier: Apache-2.0

/// Reads Apple's property lists in XML and UTF-8 (plist(5), PropertyList-1.0.dtd).
///
/// Lists are untrusted. Every input results in a value or an error, with time and memory that depend
/// only on its length. Nesting, length and the number of values are limited. Binary lists, except by
/// ``readAnyForm(_:)`` and from files, OpenStep lists, a DOCTYPE with declarations, duplicate keys in a dictionary,
/// and numbers out of range are rejected by name.
public struct PropertyListReader {
    /// The maximum number of bytes of a list.
    public static let maxLength = 16 << 20
    /// The maximum depth of nested arrays and dictionaries.
    public static let maxDepth = 64
    /// The maximum number of values of a list, nested ones included.
    public static let maxCount = 100_000

    private var cursor: XMLCursor
    private var count = 0

    /// Returns the value of a list.
    public static func read(_ bytes: [UInt8]) throws(PropertyListError) -> PropertyListValue {
        guard bytes.count <= maxLength else { throw PropertyListError("the list has more than \(maxLength) bytes") }
        guard !bytes.starts(with: "bplist".utf8) else {
            throw PropertyListError(
                "binary property lists are unsupported; convert it with plutil -convert xml1")
        }
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw PropertyListError("the list is not valid UTF-8")
        }
        var reader = PropertyListReader(XMLCursor(bytes))
        return try reader.document()
    }

    /// Returns the value of a list in XML, or of a binary list.
    ///
    /// - Parameter readsUIDs: whether a UID of a binary list, as in keyed archives, is a dictionary with the key `CF$UID`,
    ///   as it is in XML. Otherwise it is rejected.
    public static func readAnyForm(
        _ bytes: [UInt8], readsUIDs: Bool = false
    ) throws(PropertyListError) -> PropertyListValue {
        guard bytes.starts(with: "bplist".utf8) else { return try read(bytes) }
        return try BinaryPropertyListReader.read(bytes, readsUIDs: readsUIDs)
    }

    /// Returns the value of a list in a regular file, in any form.
    ///
    /// - Parameter limit: the maximum length in bytes.
    /// - Throws: `PropertyListError`, also if the file is missing or cannot be read.
    public static func read(file: String, limit: Int) throws(PropertyListError) -> PropertyListValue {
        let bytes: [UInt8]?
        do throws(SystemError) { bytes = try BoundedFile.read(file, limit: limit) } catch {
            throw PropertyListError(error.description)
        }
        guard let bytes else { throw PropertyListError("the file does not exist") }
        return try readAnyForm(bytes)
    }

    private init(_ cursor: XMLCursor) { self.cursor = cursor }

    // MARK: The document

    private mutating func document() throws(PropertyListError) -> PropertyListValue {
        cursor.skip("\u{FEFF}")
        try cursor.skipProlog()
        guard let tag = try cursor.tag(), tag.name == "plist", tag.kind == .opening else {
            throw cursor.error("expected <plist>")
        }
        try cursor.skipMisc()
        guard let first = try cursor.tag() else { throw cursor.error("expected a value") }
        let value = try value(of: first, depth: 0)
        try cursor.skipMisc()
        guard try cursor.tag() == XMLTag(name: "plist", kind: .closing) else { throw cursor.error("expected </plist>") }
        try cursor.skipMisc()
        guard cursor.isAtEnd else { throw cursor.error("expected the end of the file") }
        return value
    }

    private mutating func value(of tag: XMLTag, depth: Int) throws(PropertyListError) -> PropertyListValue {
        count += 1
        guard count <= Self.maxCount else { throw cursor.error("more than \(Self.maxCount) values") }
        guard tag.kind != .closing else { throw cursor.error("expected a value") }
        switch tag.name {
        case "dict": return .dictionary(tag.kind == .empty ? [:] : try members(depth: depth + 1))
        case "array": return .array(tag.kind == .empty ? [] : try elements(depth: depth + 1))
        case "true": return .boolean(try nothing(in: tag, true))
        case "false": return .boolean(try nothing(in: tag, false))
        case "string": return .string(try text(of: tag))
        case "integer": return .integer(try integer(try text(of: tag)))
        case "real": return .real(try real(try text(of: tag)))
        case "date": return .date(try date(try text(of: tag)))
        case "data": return .data(try data(try text(of: tag)))
        default: throw cursor.error("unexpected element in a property list")
        }
    }

    private mutating func elements(depth: Int) throws(PropertyListError) -> [PropertyListValue] {
        try requireDepth(depth)
        var values: [PropertyListValue] = []
        while let tag = try nextTag(in: "array") { values.append(try value(of: tag, depth: depth)) }
        return values
    }

    private mutating func members(depth: Int) throws(PropertyListError) -> [String: PropertyListValue] {
        try requireDepth(depth)
        var members: [String: PropertyListValue] = [:]
        while let tag = try nextTag(in: "dict") {
            guard tag.name == "key", tag.kind != .closing else { throw cursor.error("expected <key>") }
            let key = try text(of: tag)
            guard let next = try nextTag(in: "dict") else { throw cursor.error("expected a value after the key") }
            guard members.updateValue(try value(of: next, depth: depth), forKey: key) == nil else {
                throw cursor.error("duplicate key in a dictionary")
            }
        }
        return members
    }

    private func requireDepth(_ depth: Int) throws(PropertyListError) {
        guard depth <= Self.maxDepth else { throw cursor.error("more than \(Self.maxDepth) nested values") }
    }

    /// Returns the next tag of an element's content; nil at its end.
    private mutating func nextTag(in parent: String) throws(PropertyListError) -> XMLTag? {
        try cursor.skipMisc()
        guard let tag = try cursor.tag() else { throw cursor.error("expected an element, or </\(parent)>") }
        return tag == XMLTag(name: parent, kind: .closing) ? nil : tag
    }

    private mutating func text(of tag: XMLTag) throws(PropertyListError) -> String {
        if tag.kind == .empty { return "" }
        let text = try cursor.text()
        guard try cursor.tag() == XMLTag(name: tag.name, kind: .closing) else {
            throw cursor.error("expected </\(tag.name)>")
        }
        return text
    }

    private mutating func nothing(in tag: XMLTag, _ value: Bool) throws(PropertyListError) -> Bool {
        guard try text(of: tag).allSatisfy(\.isWhitespace) else { throw cursor.error("<\(tag.name)> must be empty") }
        return value
    }
}

// MARK: Values in texts

extension PropertyListReader {
    private func integer(_ text: String) throws(PropertyListError) -> Int64 {
        let digits = text.trimmingASCIISpace
        let isHexadecimal = digits.hasPrefix("0x") || digits.hasPrefix("0X")
        guard let number = isHexadecimal ? Int64(digits.dropFirst(2), radix: 16) : Int64(digits) else {
            throw cursor.error("expected a 64-bit integer")
        }
        return number
    }

    private func real(_ text: String) throws(PropertyListError) -> Double {
        guard let number = Double(text.trimmingASCIISpace), number.isFinite else {
            throw cursor.error("expected a finite number")
        }
        return number
    }

    private func date(_ text: String) throws(PropertyListError) -> Double {
        guard let seconds = PropertyListDate.seconds(text.trimmingASCIISpace) else {
            throw cursor.error("expected a date such as 2001-01-31T23:59:59Z")
        }
        return seconds
    }

    private func data(_ text: String) throws(PropertyListError) -> [UInt8] {
        guard let bytes = Base64.bytes(text.utf8, skipsWhiteSpace: true) else { throw cursor.error("expected base64") }
        return bytes
    }
}

extension StringProtocol {
    /// The text without XML white space at both ends.
    fileprivate var trimmingASCIISpace: String {
        let isSpace: (Character) -> Bool = { [" ", "\t", "\n", "\r", "\r\n"].contains($0) }
        return String(drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
}
