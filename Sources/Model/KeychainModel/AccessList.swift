// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The programs that a caller wants to be trusted with an item, and the partitions: the value of `kSecAttrAccess`.
///
/// It is a record of the caller's request. It is kept and shown, but allows and denies nothing: access groups separate
/// programs. A list of the Secret Service names the creators of an item (``creators``).
///
/// Format: Documentation/Formats/keychain-database.md, "Access lists".
package struct AccessList: Sendable {
    /// The programs that are trusted.
    package enum Programs: Sendable {
        /// The caller named no programs. On macOS, the program that created the item is trusted.
        case unspecified
        /// Every program.
        case any
        /// The programs with these paths, even if no file exists there; an empty list for no program.
        case listed([String])
    }

    /// The name of the item when the list was made; may be empty.
    package let name: String
    /// The trusted programs.
    package let programs: Programs
    /// The partitions, in the given order: on macOS, kinds of signed programs.
    package let partitions: [String]

    /// The maximum number of programs, and of partitions.
    package static let maxCount = 128
    /// The maximum length of a name, a path or a partition, in bytes of UTF-8.
    package static let maxTextLength = 4096
    /// The maximum length of ``encoded``, in bytes.
    package static let maxLength = 65536

    /// - Throws: errSecParam for an empty path or partition, and for a list that exceeds a limit.
    package init(name: String, programs: Programs, partitions: [String] = []) throws(KeychainError) {
        self.name = name
        self.programs = programs
        self.partitions = partitions
        try checkLimits()
    }

    private func checkLimits() throws(KeychainError) {
        try Self.checkLength(of: name)
        if case .listed(let paths) = programs { try Self.check(paths, "programs") }
        try Self.check(partitions, "partitions")
        let length = encoded.count
        guard length <= Self.maxLength else {
            throw Self.refused("has \(length) bytes; at most \(Self.maxLength) are allowed")
        }
    }

    private static func check(_ texts: [String], _ what: String) throws(KeychainError) {
        guard texts.count <= maxCount else {
            throw refused("has \(texts.count) \(what); at most \(maxCount) are allowed")
        }
        for text in texts {
            guard !text.isEmpty else { throw refused("has an empty text among its \(what)") }
            try checkLength(of: text)
        }
    }

    private static func checkLength(of text: String) throws(KeychainError) {
        let length = text.utf8.count
        guard length <= maxTextLength else {
            throw refused("has a text of \(length) bytes; at most \(maxTextLength) are allowed")
        }
    }

    private static func refused(_ problem: String) -> KeychainError { .parameter("the access list \(problem)") }
}

// MARK: Coding

extension AccessList {
    private static let version: UInt8 = 1

    /// The bytes that an item stores. A list has one encoding only.
    package var encoded: [UInt8] {
        var bytes = [Self.version, programs.code]
        Self.append(name, to: &bytes)
        if case .listed(let paths) = programs { Self.append(paths, to: &bytes) }
        Self.append(partitions, to: &bytes)
        return bytes
    }

    /// Decodes a list from all of the bytes.
    ///
    /// - Throws: errSecParam, with a description of the bytes, for any input that ``encoded`` does not write.
    package init(decoding bytes: [UInt8]) throws(KeychainError) {
        var reader = FieldReader(bytes)
        guard let version: UInt8 = reader.number() else { throw Self.incomplete }
        guard version == Self.version else {
            throw Self.refused("has version \(version); the supported version is \(Self.version)")
        }
        guard let code: UInt8 = reader.number() else { throw Self.incomplete }
        let name = try Self.text(&reader)
        let programs: Programs
        switch code {
        case 0: programs = .unspecified
        case 1: programs = .any
        case 2: programs = .listed(try Self.texts(&reader))
        default: throw Self.refused("has the unknown kind \(code) of programs")
        }
        let partitions = try Self.texts(&reader)
        guard reader.remaining == 0 else { throw Self.refused("has \(reader.remaining) bytes after its end") }
        try self.init(name: name, programs: programs, partitions: partitions)
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(bigEndian: UInt16(text.utf8.count))
        bytes += text.utf8
    }

    private static func append(_ texts: [String], to bytes: inout [UInt8]) {
        bytes.append(bigEndian: UInt16(texts.count))
        for text in texts { append(text, to: &bytes) }
    }

    private static func text(_ reader: inout FieldReader<ArraySlice<UInt8>>) throws(KeychainError) -> String {
        guard let length: UInt16 = reader.number(), let bytes = reader.bytes(Int(length)) else { throw incomplete }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw refused("has a text that is not UTF-8") }
        return text
    }

    private static func texts(_ reader: inout FieldReader<ArraySlice<UInt8>>) throws(KeychainError) -> [String] {
        guard let count: UInt16 = reader.number() else { throw incomplete }
        // Checked before memory is allocated for them.
        guard count <= maxCount else { throw refused("has a list of \(count); at most \(maxCount) are allowed") }
        var texts: [String] = []
        for _ in 0..<count { texts.append(try text(&reader)) }
        return texts
    }

    private static var incomplete: KeychainError { refused("is not complete") }
}

extension AccessList.Programs {
    fileprivate var code: UInt8 {
        switch self {
        case .unspecified: 0
        case .any: 1
        case .listed: 2
        }
    }
}

// MARK: Equatable

extension AccessList: Equatable {
    /// Whether both have the same bytes. Swift's strings treat composed and decomposed text as equal,
    /// but these are different paths.
    package static func == (one: AccessList, other: AccessList) -> Bool { one.encoded == other.encoded }
}

// MARK: The attribute

extension AccessList {
    /// The value of ``ItemAttribute/accessList``.
    package var attributeValue: AttributeValue { .data(encoded) }

    /// Reads the value of ``ItemAttribute/accessList``.
    ///
    /// - Throws: errSecParam for a value that is not data, and as ``init(decoding:)``.
    package init(_ value: AttributeValue) throws(KeychainError) {
        guard case .data(let bytes) = value else { throw Self.refused("is not data") }
        try self.init(decoding: bytes)
    }
}

extension ItemRecord {
    /// Returns the access list; nil if the item has none.
    ///
    /// - Throws: errSecParam for a list that cannot be read, such as one of a later version.
    package func accessList() throws(KeychainError) -> AccessList? {
        guard let value = attributes[.accessList] else { return nil }
        return try AccessList(value)
    }
}
