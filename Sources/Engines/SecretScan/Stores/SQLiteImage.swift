// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The bytes of a SQLite database in its last committed state: the file, and over it the pages of its write-ahead log
/// (https://www.sqlite.org/fileformat2.html, section 4). Neither file is opened by SQLite, so nothing changes them.
enum SQLiteImage {
    /// - Parameters:
    ///   - file: the bytes of the database.
    ///   - log: the bytes of the write-ahead log; empty for none.
    static func bytes(_ file: [UInt8], log: [UInt8]) -> [UInt8] {
        var image = file
        // The version of a database with a log: SQLite would look for the log.
        if image.count >= 20 { image.replaceSubrange(18..<20, with: [1, 1]) }
        guard let pages = committedPages(of: log, fileLength: file.count) else { return image }
        for (number, page) in pages {
            let start = (number - 1) * page.count
            if image.count < start + page.count {
                image += [UInt8](repeating: 0, count: start + page.count - image.count)
            }
            image.replaceSubrange(start..<start + page.count, with: page)
        }
        if image.count >= 20 { image.replaceSubrange(18..<20, with: [1, 1]) }
        return image
    }

    /// The pages up to the last commit, the later ones after the earlier ones; nil for no valid log.
    private static func committedPages(of log: [UInt8], fileLength: Int) -> [(number: Int, page: ArraySlice<UInt8>)]? {
        var fields = FieldReader(log)
        guard let magic: UInt32 = fields.number(), magic & ~1 == 0x377F_0682, fields.bytes(4) != nil,
            let size: UInt32 = fields.number(), 512...65_536 ~= size, fields.bytes(4) != nil,
            let salts = fields.array(8), fields.bytes(8) != nil
        else { return nil }
        var (pages, committed) = ([(Int, ArraySlice<UInt8>)](), 0)
        // A page behind the end of the file is in the log, too.
        let maxNumber = (fileLength + log.count) / Int(size) + 1
        while let number: UInt32 = fields.number(), let length: UInt32 = fields.number(),
            let frameSalts = fields.array(8),
            fields.bytes(8) != nil, let page = fields.bytes(Int(size))
        {
            // Frames of an earlier log follow.
            guard frameSalts == salts, 1...maxNumber ~= Int(number) else { break }
            pages.append((Int(number), page))
            if length > 0 { committed = pages.count }
        }
        return Array(pages.prefix(committed))
    }
}
