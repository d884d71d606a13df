// SPDX-License-Identifier: Apache-2.0

internal import Decompression

/// Reads zip archives (PKWARE's APPNOTE 6.3): also ipa, apk, jar and Office documents.
///
/// The files are those of the central directory; their data is read where their local headers say.
struct ZipArchive: ArchiveReader {
    private let bytes: [UInt8]
    private var directory: Directory?
    private var isOpened = false

    private struct Directory {
        var position: Int
        let end: Int
        /// The number of entries that are still to come.
        var count: Int
    }

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func next(limit: Int) throws(ArchiveError) -> ArchiveEntry? {
        if !isOpened {
            isOpened = true
            directory = try openDirectory()
        }
        while let (header, next) = try directoryHeader() {
            directory?.position = next
            directory?.count -= 1
            if let entry = try entry(header, limit) { return entry }
        }
        return nil
    }

    // MARK: Directory

    private func openDirectory() throws(ArchiveError) -> Directory {
        // Behind the record is a comment of at most 65,535 bytes.
        let first = max(0, bytes.count - 22 - 65_535)
        var position = bytes.count - 22
        while position >= first {
            let fields = LittleEndianFields(bytes, at: position)
            if fields.number(4, at: 0) == 0x0605_4B50, let count = fields.number(2, at: 10),
                let size = fields.number(4, at: 12), let start = fields.number(4, at: 16),
                let comment = fields.number(2, at: 20), position + 22 + comment == bytes.count
            {
                guard start != 0xFFFF_FFFF else {
                    throw Self.damage("zip64 archives are unsupported", isRecoverable: false)
                }
                guard start + size <= bytes.count else { break }
                return Directory(position: start, end: start + size, count: count)
            }
            position -= 1
        }
        throw Self.damage("the zip archive has no directory", isRecoverable: false)
    }

    private struct Header {
        let name: String
        let method: Int
        let flags: Int
        let compressedSize: Int
        let size: Int
        let checkSum: UInt32
        let position: Int
    }

    private mutating func directoryHeader() throws(ArchiveError) -> (Header, next: Int)? {
        guard let directory else { return nil }
        guard directory.position < directory.end else {
            self.directory = nil
            guard directory.count & 0xFFFF == 0 else {
                throw Self.damage("the directory of the zip archive has not all entries", isRecoverable: false)
            }
            return nil
        }
        let fields = LittleEndianFields(bytes, at: directory.position)
        guard fields.number(4, at: 0) == 0x0201_4B50, let flags = fields.number(2, at: 8),
            let method = fields.number(2, at: 10),
            let checkSum = fields.number(4, at: 16), let compressedSize = fields.number(4, at: 20),
            let size = fields.number(4, at: 24),
            let nameLength = fields.number(2, at: 28), let extraLength = fields.number(2, at: 30),
            let commentLength = fields.number(2, at: 32), let position = fields.number(4, at: 42),
            let name = fields.bytes(nameLength, at: 46)
        else { throw Self.damage("the directory of the zip archive is damaged", isRecoverable: false) }
        let header = Header(
            name: String(decoding: name, as: UTF8.self), method: method, flags: flags, compressedSize: compressedSize,
            size: size,
            checkSum: UInt32(truncatingIfNeeded: checkSum), position: position)
        return (header, directory.position + 46 + nameLength + extraLength + commentLength)
    }

    // MARK: Files

    private func entry(_ header: Header, _ limit: Int) throws(ArchiveError) -> ArchiveEntry? {
        guard header.size > 0 || header.compressedSize > 0 else { return nil }
        guard header.flags & 1 == 0 else { throw Self.damage("\(header.name) is encrypted", isRecoverable: true) }
        let fields = LittleEndianFields(bytes, at: header.position)
        guard fields.number(4, at: 0) == 0x0403_4B50, let nameLength = fields.number(2, at: 26),
            let extraLength = fields.number(2, at: 28),
            let data = fields.bytes(header.compressedSize, at: 30 + nameLength + extraLength)
        else { throw Self.damage("\(header.name) is cut off", isRecoverable: true) }
        let content = try content(data, header, limit)
        guard CRC32.value(of: content) == header.checkSum else {
            throw Self.damage("\(header.name) has a wrong check sum", isRecoverable: true)
        }
        return ArchiveEntry(name: header.name, content: content)
    }

    private func content(_ data: ArraySlice<UInt8>, _ header: Header, _ limit: Int) throws(ArchiveError) -> [UInt8] {
        switch header.method {
        case 0:
            guard data.count <= limit else {
                throw Self.damage("\(header.name) is longer than the limit", isRecoverable: true)
            }
            return Array(data)
        case 8:
            do throws(DecompressionError) { return try Inflater.raw(data, limit: limit) } catch {
                throw Self.damage("\(header.name): \(error.description)", isRecoverable: true)
            }
        default:
            throw Self.damage("\(header.name) has an unsupported compression (\(header.method))", isRecoverable: true)
        }
    }

    private static func damage(_ reason: String, isRecoverable: Bool) -> ArchiveError {
        ArchiveError(reason: reason, isRecoverable: isRecoverable)
    }
}

/// Numbers with the least significant byte first, at offsets from a position.
struct LittleEndianFields {
    private let bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8], at position: Int) { self.bytes = bytes.dropFirst(max(0, position)) }

    /// - Parameter count: of its bytes, at most 4.
    func number(_ count: Int, at offset: Int) -> Int? {
        bytes(count, at: offset)?.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    func bytes(_ count: Int, at offset: Int) -> ArraySlice<UInt8>? {
        let found = bytes.dropFirst(offset).prefix(count)
        return found.count == count ? found : nil
    }
}
