// SPDX-License-Identifier: Apache-2.0

/// The kind of a document that is not read as text, by its first bytes.
enum DocumentKind: Sendable {
    case zip, gzip, tar, sqlite, propertyList, der

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
        } else {
            return nil
        }
    }
}
