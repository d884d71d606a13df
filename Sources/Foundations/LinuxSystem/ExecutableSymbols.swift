// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What an executable or a shared library says about some symbols: an ELF file of 64 bits, little-endian (System V ABI,
/// "Object Files").
public struct ExecutableSymbols: Sendable {
    /// How a file has a symbol.
    public enum Binding: Sendable {
        /// The file uses it; a shared library must define it.
        case undefined
        /// Another definition takes precedence, while the file is linked.
        case weak
        case strong
    }

    /// A file that cannot be understood.
    public struct FormatError: Error, CustomStringConvertible {
        public let description: String
    }

    /// Whether the file has a full table of symbols: `strip` removes it.
    public private(set) var isComplete = false
    /// The symbols that were asked for, as far as the file has them.
    public private(set) var bindings: [String: Binding] = [:]

    /// - Parameters:
    ///   - path: a regular file.
    ///   - names: the symbols to look for.
    /// - Throws: `SystemError`, or ``FormatError``.
    public init(of path: FilePath, names: Set<String>) throws {
        let file = try SectionFile(path)
        // A file has one of each kind.
        for kind in [Self.symbolTable, Self.dynamicSymbols] {
            guard let section = file.sections.first(where: { $0.kind == kind }) else { continue }
            guard let texts = file.sections.dropFirst(section.link).first else {
                throw FormatError(description: "the symbol table has no section of names")
            }
            let (symbols, names) = (try file.bytes(of: section), SoughtNames(names, in: try file.bytes(of: texts)))
            isComplete = isComplete || kind == Self.symbolTable
            try symbols.withUnsafeBytes { symbols in
                var reader = FieldReader(symbols)
                while let entry = reader.memory(Self.symbolLength) {
                    guard let symbol = Symbol(entry) else { break }
                    if let name = names.name(at: symbol.name) { take(symbol, name) }
                }
                guard reader.isAtEnd else { throw FormatError(description: "the last symbol is not complete") }
            }
        }
    }

    /// Takes an entry of a symbol table. Of two entries of the same name, the defined one counts.
    private mutating func take(_ symbol: Symbol, _ name: String) {
        if bindings[name] == nil || symbol.binding != .undefined { bindings[name] = symbol.binding }
    }

    private static let symbolTable: UInt32 = 2
    private static let dynamicSymbols: UInt32 = 11
    private static let symbolLength = 24
}

/// An entry of a symbol table.
private struct Symbol {
    /// The position of the name in the section of names.
    let name: UInt32
    let binding: ExecutableSymbols.Binding

    init?(_ entry: UnsafeRawBufferPointer) {
        var fields = FieldReader(entry)
        guard let name = fields.littleEndian(UInt32.self), let info = fields.littleEndian(UInt8.self),
            fields.bytes(1) != nil, let section = fields.littleEndian(UInt16.self)
        else { return nil }
        self.name = name
        binding = section == 0 ? .undefined : info >> 4 == 2 ? .weak : .strong
    }
}

/// The names to look for: most symbols are excluded by their length alone.
private struct SoughtNames {
    private let names: Set<String>
    private let lengths: Set<Int>
    private let maxLength: Int
    /// The section of names: each ends with a zero.
    private let texts: [UInt8]

    init(_ names: Set<String>, in texts: [UInt8]) {
        (self.names, self.texts) = (names, texts)
        lengths = Set(names.map(\.utf8.count))
        maxLength = lengths.max() ?? 0
    }

    /// The name at a position of the section; nil for another one.
    func name(at position: UInt32) -> String? {
        texts.withUnsafeBytes { texts in
            guard let position = Int(exactly: position), position < texts.count else { return nil }
            let rest = texts.dropFirst(position).prefix(maxLength + 1).prefix { $0 != 0 }
            guard lengths.contains(rest.count), position + rest.count < texts.count,
                let name = String(validating: rest, as: UTF8.self)
            else { return nil }
            return names.contains(name) ? name : nil
        }
    }
}

/// The sections of an ELF file.
private struct SectionFile: ~Copyable {
    struct Section {
        let kind: UInt32
        let offset: UInt64
        let length: UInt64
        /// The number of another section: for symbols, that of the names.
        let link: Int

        init?(_ entry: UnsafeRawBufferPointer) {
            var fields = FieldReader(entry)
            guard fields.bytes(4) != nil, let kind = fields.littleEndian(UInt32.self), fields.bytes(16) != nil,
                let offset = fields.littleEndian(UInt64.self), let length = fields.littleEndian(UInt64.self),
                let link = fields.littleEndian(UInt32.self)
            else { return nil }
            (self.kind, self.offset, self.length, self.link) = (kind, offset, length, Int(link))
        }
    }

    private let file: OwnedDescriptor
    private let path: FilePath
    let sections: [Section]

    /// The maximum length of a section that is read, in bytes.
    private static let maxLength: UInt64 = 1 << 30
    private static let maxSections: UInt64 = 1 << 20
    private static let headerLength = 64
    private static let otherFormat = "it is no executable and no shared library (ELF)"

    init(_ path: FilePath) throws {
        let file = try OwnedDescriptor(opening: path, flags: O_RDONLY | O_NONBLOCK | O_NOCTTY)
        let sections = try Self.sections(of: file, path)
        self.init(file, path, sections)
    }

    private init(_ file: consuming OwnedDescriptor, _ path: FilePath, _ sections: [Section]) {
        self.file = file
        self.path = path
        self.sections = sections
    }

    private static func sections(of file: borrowing OwnedDescriptor, _ path: FilePath) throws -> [Section] {
        guard try FileStatus.of(file, path: path.description).kind == .file else {
            throw ExecutableSymbols.FormatError(description: "it is not a regular file")
        }
        let bytes = try Self.bytes(in: file, path, 0, UInt64(Self.headerLength), isHeader: true)
        let header = try bytes.withUnsafeBytes { try Header($0) }
        var count = UInt64(header.count)
        if count == 0 {
            // More than 65,279 sections: the first one has the number.
            let first = try Self.bytes(in: file, path, header.start, UInt64(Self.headerLength))
            count = first.withUnsafeBytes { Section($0)?.length } ?? 0
        }
        let (length, isTooLong) = count.multipliedReportingOverflow(by: UInt64(Self.headerLength))
        guard !isTooLong, count <= Self.maxSections else {
            throw ExecutableSymbols.FormatError(description: "it has \(count) sections")
        }
        let table = try Self.bytes(in: file, path, header.start, length)
        return table.withUnsafeBytes { table in
            var (reader, sections) = (FieldReader(table), [Section]())
            while let entry = reader.memory(Self.headerLength).flatMap({ Section($0) }) { sections.append(entry) }
            return sections
        }
    }

    /// The parts of the file's header that are used.
    private struct Header {
        /// The position of the table of sections.
        let start: UInt64
        let count: UInt16

        init(_ bytes: UnsafeRawBufferPointer) throws {
            var fields = FieldReader(bytes)
            guard let magic = fields.bytes(4), magic.elementsEqual([0x7F, 0x45, 0x4C, 0x46]) else {
                throw ExecutableSymbols.FormatError(description: SectionFile.otherFormat)
            }
            guard fields.littleEndian(UInt8.self) == 2, fields.littleEndian(UInt8.self) == 1 else {
                throw ExecutableSymbols.FormatError(description: "it is not for a machine with 64 bits, little-endian")
            }
            guard fields.bytes(34) != nil, let start = fields.littleEndian(UInt64.self), fields.bytes(10) != nil,
                let size = fields.littleEndian(UInt16.self), let count = fields.littleEndian(UInt16.self), start != 0,
                Int(size) == SectionFile.headerLength
            else { throw ExecutableSymbols.FormatError(description: "it has no table of sections") }
            (self.start, self.count) = (start, count)
        }
    }

    func bytes(of section: Section) throws -> [UInt8] {
        try Self.bytes(in: file, path, section.offset, section.length)
    }

    /// - Parameter isHeader: whether a shorter file is of another format, and not a damaged one.
    private static func bytes(
        in file: borrowing OwnedDescriptor, _ path: FilePath, _ offset: UInt64, _ length: UInt64, isHeader: Bool = false
    ) throws -> [UInt8] {
        guard length <= maxLength else {
            throw ExecutableSymbols.FormatError(description: "a section is longer than \(maxLength) bytes")
        }
        // Before memory is allocated for a length that the file claims.
        let size = UInt64(max(0, try FileStatus.of(file, path: path.description).size))
        guard offset <= size, length <= size - offset, let start = off_t(exactly: offset) else {
            throw ExecutableSymbols.FormatError(
                description: isHeader
                    ? otherFormat
                    : "it is damaged: a section ends after the end of the file")
        }
        guard lseek(file.rawValue, start, SEEK_SET) >= 0 else { throw SystemError.last("read", path: path) }
        let bytes = try file.read(upTo: Int(length), path: path.description)
        guard bytes.count == Int(length) else {
            throw ExecutableSymbols.FormatError(description: "it became shorter while it was read")
        }
        return bytes
    }
}

extension FieldReader {
    /// Reads a little-endian number.
    fileprivate mutating func littleEndian<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
        number(type)?.byteSwapped
    }
}
