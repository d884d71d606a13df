// SPDX-License-Identifier: Apache-2.0

/// Reads Apple's binary property lists, `bplist00`.
///
/// Lists are untrusted. Every input results in a value or an error. An object that is referenced
/// many times counts every time, so that time and memory depend only on the limits of
/// ``PropertyListReader``; an object that contains itself exceeds the depth. Null, sets, duplicate keys in a
/// dictionary, numbers out of range, and UIDs unless they are asked for are rejected by name.
struct BinaryPropertyListReader {
    private let bytes: [UInt8]
    private let trailer: Trailer
    private let readsUIDs: Bool
    /// The values that were read.
    private var count = 0
    /// The bytes of texts and data that were read.
    private var length = 0

    /// Returns the value of a list.
    ///
    /// - Parameter readsUIDs: whether a UID, as in keyed archives, is a dictionary with the key `CF$UID`, as in XML.
    static func read(_ bytes: [UInt8], readsUIDs: Bool = false) throws(PropertyListError) -> PropertyListValue {
        guard bytes.count <= PropertyListReader.maxLength else {
            throw PropertyListError("the list has more than \(PropertyListReader.maxLength) bytes")
        }
        guard bytes.starts(with: "bplist00".utf8) else {
            throw PropertyListError("expected a binary property list of version 00")
        }
        var reader = BinaryPropertyListReader(bytes, try Trailer(bytes), readsUIDs)
        return try reader.value(reader.trailer.top, depth: 0)
    }

    private init(_ bytes: [UInt8], _ trailer: Trailer, _ readsUIDs: Bool) {
        (self.bytes, self.trailer, self.readsUIDs) = (bytes, trailer, readsUIDs)
    }

    // MARK: Objects

    private mutating func value(_ index: Int, depth: Int) throws(PropertyListError) -> PropertyListValue {
        count += 1
        guard count <= PropertyListReader.maxCount else {
            throw PropertyListError("more than \(PropertyListReader.maxCount) values")
        }
        let object = try object(index)
        switch (object.kind, object.detail) {
        case (0x0, 0x8): return .boolean(false)
        case (0x0, 0x9): return .boolean(true)
        case (0x1, let exponent): return .integer(try integer(object, exponent))
        case (0x2, 2), (0x2, 3): return .real(try real(object))
        case (0x3, 3): return .date(try date(object))
        case (0x4, _): return .data(Array(try content(object, unit: 1)))
        case (0x5, _), (0x6, _): return .string(try text(object))
        case (0xA, _): return .array(try elements(object, depth: depth + 1))
        case (0xD, _): return .dictionary(try members(object, depth: depth + 1))
        case (0x0, 0x0): throw PropertyListError("null is unsupported")
        case (0x8, let detail) where readsUIDs: return .dictionary(["CF$UID": .integer(try uid(object, detail))])
        case (0x8, _): throw PropertyListError("UIDs, as in keyed archives, are unsupported")
        case (0xB, _), (0xC, _): throw PropertyListError("sets are unsupported")
        default: throw PropertyListError("unexpected object in a binary property list")
        }
    }

    private mutating func elements(_ object: Object, depth: Int) throws(PropertyListError) -> [PropertyListValue] {
        try requireDepth(depth)
        var values: [PropertyListValue] = []
        for reference in try references(object, lists: 1) { values.append(try value(reference, depth: depth)) }
        return values
    }

    private mutating func members(_ object: Object, depth: Int) throws(PropertyListError)
        -> [String: PropertyListValue]
    {
        try requireDepth(depth)
        let references = try references(object, lists: 2)
        let half = references.count / 2
        var members: [String: PropertyListValue] = [:]
        for (key, member) in zip(references.prefix(half), references.dropFirst(half)) {
            let name = try text(try self.object(key))
            guard members.updateValue(try value(member, depth: depth), forKey: name) == nil else {
                throw PropertyListError("duplicate key in a dictionary")
            }
        }
        return members
    }

    private func requireDepth(_ depth: Int) throws(PropertyListError) {
        guard depth <= PropertyListReader.maxDepth else {
            throw PropertyListError("more than \(PropertyListReader.maxDepth) nested values")
        }
    }

    // MARK: Values

    private func integer(_ object: Object, _ exponent: Int) throws(PropertyListError) -> Int64 {
        // Up to 4 bytes are unsigned, 8 bytes are signed, 16 bytes contain numbers that 8 cannot.
        guard exponent <= 4, let digits = slice(object.start, 1 << exponent) else {
            throw PropertyListError("an integer is cut off")
        }
        guard let number = UInt64(bigEndianBytes: digits) else { throw Self.integerRange }
        guard digits.count == 16 else { return Int64(bitPattern: number) }
        guard let small = Int64(exactly: number) else { throw Self.integerRange }
        return small
    }

    private func uid(_ object: Object, _ detail: Int) throws(PropertyListError) -> Int64 {
        guard let digits = slice(object.start, detail + 1), let number = Int64(bigEndianBytes: digits) else {
            throw Self.integerRange
        }
        return number
    }

    private static let integerRange = PropertyListError("expected a 64-bit integer")

    private func real(_ object: Object) throws(PropertyListError) -> Double {
        guard let digits = slice(object.start, 1 << object.detail), let bits = UInt64(bigEndianBytes: digits) else {
            throw PropertyListError("a real is cut off")
        }
        let number =
            digits.count == 4
            ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))) : Double(bitPattern: bits)
        guard number.isFinite else { throw PropertyListError("expected a finite number") }
        return number
    }

    /// Dates have the range of those in XML: the years 1 to 9999.
    private func date(_ object: Object) throws(PropertyListError) -> Double {
        let seconds = try real(object) + Self.secondsTo2001
        guard Self.dates ~= seconds else { throw PropertyListError("expected a date of the years 1 to 9999") }
        return seconds
    }

    /// From 1970-01-01 to 2001-01-01, where dates start.
    private static let secondsTo2001: Double = 978_307_200
    private static let dates = -62_135_596_800.0..<253_402_300_800.0

    private mutating func text(_ object: Object) throws(PropertyListError) -> String {
        switch object.kind {
        case 0x5:
            let characters = try content(object, unit: 1)
            guard characters.allSatisfy({ $0 < 0x80 }) else { throw PropertyListError("a text is not ASCII") }
            return String(decoding: characters, as: UTF8.self)
        case 0x6:
            var units: [UInt16] = []
            var fields = FieldReader(try content(object, unit: 2))
            while let unit: UInt16 = fields.number() { units.append(unit) }
            guard let text = String(validating: units, as: UTF16.self) else {
                throw PropertyListError("a text is not valid UTF-16")
            }
            return text
        default: throw PropertyListError("expected a text as the key of a dictionary")
        }
    }

    // MARK: Bytes

    /// An object's marker, and where its content starts.
    private struct Object {
        let kind: Int
        let detail: Int
        let start: Int
    }

    private func object(_ index: Int) throws(PropertyListError) -> Object {
        guard index < trailer.count,
            let digits = Self.slice(bytes, trailer.table &+ index &* trailer.offsetWidth, trailer.offsetWidth),
            let offset = Self.number(digits), offset >= Self.headerLength, let marker = slice(offset, 1)?.first
        else { throw PropertyListError("a reference to an object that does not exist") }
        return Object(kind: Int(marker >> 4), detail: Int(marker & 0xF), start: offset + 1)
    }

    /// The bytes of a text or of data, charged to the limit before they are copied.
    private mutating func content(_ object: Object, unit: Int) throws(PropertyListError) -> ArraySlice<UInt8> {
        let (count, start) = try self.count(of: object)
        guard let bytes = slice(start, count &* unit) else { throw PropertyListError("a value is cut off") }
        length += bytes.count
        guard length <= PropertyListReader.maxLength else {
            throw PropertyListError("the values have more than \(PropertyListReader.maxLength) bytes")
        }
        return bytes
    }

    /// The references of an array, or those of a dictionary's keys and values.
    private func references(_ object: Object, lists: Int) throws(PropertyListError) -> [Int] {
        let (count, start) = try self.count(of: object)
        guard count <= PropertyListReader.maxCount else {
            throw PropertyListError("more than \(PropertyListReader.maxCount) values")
        }
        let width = trailer.referenceWidth
        guard slice(start, count &* lists &* width) != nil else { throw PropertyListError("a list is cut off") }
        return (0..<(count &* lists)).compactMap { number(start &+ $0 &* width, width: width) }
    }

    /// The count of an object's elements, and where they start: 15 in the marker means that an
    /// integer with the count follows.
    private func count(of object: Object) throws(PropertyListError) -> (count: Int, start: Int) {
        guard object.detail == 0xF else { return (object.detail, object.start) }
        guard let marker = slice(object.start, 1)?.first, marker >> 4 == 0x1, marker & 0xF <= 3,
            let count = number(object.start + 1, width: 1 << Int(marker & 0xF)), count <= bytes.count
        else { throw PropertyListError("a count is cut off, or larger than the list") }
        return (count, object.start + 1 + (1 << Int(marker & 0xF)))
    }

    private func number(_ offset: Int, width: Int) -> Int? { slice(offset, width).flatMap(Self.number) }

    /// A big-endian number; nil if it does not fit.
    fileprivate static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        Int(bigEndianBytes: digits)
    }

    /// Bytes of an object; nil if they do not all precede the table.
    private func slice(_ offset: Int, _ count: Int) -> ArraySlice<UInt8>? {
        guard let bytes = Self.slice(bytes, offset, count), bytes.endIndex <= trailer.table else { return nil }
        return bytes
    }

    fileprivate static func slice(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> ArraySlice<UInt8>? {
        guard offset >= 0, count >= 0, offset <= bytes.count, count <= bytes.count - offset else { return nil }
        return bytes[offset..<offset + count]
    }

    fileprivate static let headerLength = 8
}

/// The last 32 bytes of a list: where the table of offsets is.
private struct Trailer {
    let offsetWidth: Int
    let referenceWidth: Int
    /// The number of objects.
    let count: Int
    /// The index of the list's value.
    let top: Int
    /// The offset of the table. The table follows the objects.
    let table: Int

    private static let length = 32

    init(_ bytes: [UInt8]) throws(PropertyListError) {
        let fields = Array(bytes.suffix(Self.length))
        func number(_ offset: Int, _ width: Int) -> Int? {
            BinaryPropertyListReader.slice(fields, offset, width).flatMap(BinaryPropertyListReader.number)
        }
        let end = bytes.count - Self.length
        guard end >= BinaryPropertyListReader.headerLength, let offsetWidth = number(6, 1),
            let referenceWidth = number(7, 1), let count = number(8, 8), let top = number(16, 8),
            let table = number(24, 8), 1...8 ~= offsetWidth, 1...8 ~= referenceWidth
        else { throw PropertyListError("the end of a binary property list is invalid") }
        // Every value is also counted when it is read.
        guard count <= 2 &* PropertyListReader.maxCount else { throw PropertyListError("too many objects") }
        guard table >= BinaryPropertyListReader.headerLength, table <= end, count &* offsetWidth <= end - table,
            top < count
        else { throw PropertyListError("the table of a binary property list is cut off") }
        (self.offsetWidth, self.referenceWidth) = (offsetWidth, referenceWidth)
        (self.count, self.top, self.table) = (count, top, table)
    }
}
