// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// Reads tar archives (POSIX ustar and pax, GNU's long names).
struct TarArchive: ArchiveReader {
    private static let blockLength = 512

    private let bytes: [UInt8]
    private var position = 0
    /// The name of the next file, if it is too long for the header.
    private var longName: String?

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func next(limit: Int) throws(ArchiveError) -> ArchiveEntry? {
        while position + Self.blockLength <= bytes.count {
            let header = bytes.dropFirst(position).prefix(Self.blockLength)
            guard header.contains(where: { $0 != 0 }) else { return nil }
            guard let size = Self.number(header.dropFirst(124).prefix(12)),
                size <= bytes.count - position - Self.blockLength
            else {
                throw ArchiveError(reason: "the tar archive is cut off or damaged", isRecoverable: false)
            }
            let content = bytes.dropFirst(position + Self.blockLength).prefix(size)
            position += Self.blockLength + (size + Self.blockLength - 1) / Self.blockLength * Self.blockLength
            switch header.dropFirst(156).first ?? 0 {
            case UInt8(ascii: "L"): longName = Self.text(content)
            case UInt8(ascii: "x"): longName = Self.path(inAttributes: content)
            case UInt8(ascii: "0"), 0, UInt8(ascii: "7"):
                let name = longName ?? Self.name(header)
                longName = nil
                guard size > 0 else { continue }
                guard size <= limit else {
                    throw ArchiveError(reason: "\(name) is longer than the limit", isRecoverable: true)
                }
                return ArchiveEntry(name: name, content: Array(content))
            // Links, directories, devices, and attributes for all files.
            case UInt8(ascii: "1")...UInt8(ascii: "6"), UInt8(ascii: "g"): longName = nil
            default:
                longName = nil
                throw ArchiveError(
                    reason: "\(Self.name(header)) has a type that is not read", isRecoverable: true)
            }
        }
        return nil
    }

    private static func name(_ header: ArraySlice<UInt8>) -> String {
        let prefix = text(header.dropFirst(345).prefix(155))
        let name = text(header.prefix(100))
        return prefix.isEmpty ? name : "\(prefix)/\(name)"
    }

    /// A text that ends with its field, or before with a zero.
    private static func text(_ field: ArraySlice<UInt8>) -> String {
        String(decoding: field.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// Octal digits, or GNU's binary form.
    private static func number(_ field: ArraySlice<UInt8>) -> Int? {
        if let first = field.first, first & 0x80 != 0 {
            return Int(bigEndianBytes: [first & 0x7F] + field.dropFirst())
        }
        let digits = String(decoding: field.filter { $0 != 0 && $0 != 0x20 }, as: UTF8.self)
        return digits.isEmpty ? 0 : Int(digits, radix: 8).flatMap { $0 >= 0 ? $0 : nil }
    }

    /// The path in the lines `LENGTH path=NAME` of a pax header.
    private static func path(inAttributes content: ArraySlice<UInt8>) -> String? {
        for line in content.split(separator: 0x0A) {
            let text = String(decoding: line, as: UTF8.self)
            if let space = text.firstIndex(of: " "), text[text.index(after: space)...].hasPrefix("path=") {
                return String(text[text.index(after: space)...].dropFirst(5))
            }
        }
        return nil
    }
}
