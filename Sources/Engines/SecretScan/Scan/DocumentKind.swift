// SPDX-License-Identifier: Apache-2.0

/// The kind of a document that is not read as text, by its first bytes.
enum DocumentKind: Sendable {
    case zip, gzip, tar, sqlite, propertyList, der
    /// A compressed document that is not unpacked, with the name of its format.
    case unread(String)

    /// - Returns: nil for text and for unknown kinds.
    init?(_ bytes: [UInt8]) {
        let first = bytes.prefix(512)
        if first.starts(with: [0x50, 0x4B, 3, 4]) || first.starts(with: [0x50, 0x4B, 5, 6]) {
            self = .zip
        } else if first.starts(with: [0x1F, 0x8B, 8]) {
            self = .gzip
        } else if first.starts(with: "SQLite format 3\0".utf8) {
            self = .sqlite
        } else if first.starts(with: "bplist00".utf8) {
            self = .propertyList
        } else if first.dropFirst(257).starts(with: "ustar".utf8) {
            self = .tar
        } else if first.starts(with: [0x30, 0x82]) || first.starts(with: [0x30, 0x81])
            || first.starts(with: [0x30, 0x77, 2, 1, 1])
            || first.starts(with: [0x30, 0x2E, 2, 1, 0])
        {
            self = .der
        } else if let format = Self.unread.first(where: { first.dropFirst($0.offset).starts(with: $0.bytes) }) {
            self = .unread(format.name)
        } else {
            return nil
        }
    }

    private static let unread: [(name: String, offset: Int, bytes: [UInt8])] = [
        ("bzip2", 4, [0x31, 0x41, 0x59, 0x26, 0x53, 0x59]), ("xz", 0, [0xFD] + Array("7zXZ\0".utf8)),
        ("lzip", 0, Array("LZIP\u{1}".utf8)), ("zstd", 0, [0x28, 0xB5, 0x2F, 0xFD]),
        ("LZ4", 0, [4, 0x22, 0x4D, 0x18]), ("RAR", 0, Array("Rar!\u{1A}\u{7}".utf8)),
        ("7z", 0, Array("7z".utf8) + [0xBC, 0xAF, 0x27, 0x1C]), ("SquashFS", 0, Array("hsqs".utf8)),
        ("cpio", 0, Array("07070".utf8)), ("LZMA", 0, [0x5D, 0, 0, 0x80, 0]), ("UTF-32", 0, [0xFF, 0xFE, 0, 0]),
        ("UTF-32", 0, [0, 0, 0xFE, 0xFF]), ("RPM", 0, [0xED, 0xAB, 0xEE, 0xDB]),
        ("Debian package", 0, Array("!<arch>\ndebian-binary".utf8)),
    ]
}
