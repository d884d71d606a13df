// SPDX-License-Identifier: Apache-2.0

import CFileCalls
import Foundation
import Glibc
import KeychainTesting
import Testing

/// The secrecy of the store of a mounted folder from a reader of the disk without a key.
@Suite("Secrecy of the store of a mounted folder", .enabled(if: TestFolder.isAvailable, TestFolder.reason))
struct StoreSecrecyTests {
    private let names = KnownWords("name")
    private let first = KnownWords("first")
    private let second = KnownWords("second")
    private let values = KnownWords("value")

    @Test("The search finds words in names, targets, attributes and content that are not encrypted")
    func plain() throws {
        let directory = try TemporaryDirectory()
        try fill(directory.path)
        let found = try Self.found([names, first, values], below: directory.path)
        #expect(found == names.all + first.all + values.printable)
    }

    @Test("No word of a name, target, attribute or archive is in the store, also after rewrites and truncation")
    func store() throws {
        let folder = try TestFolder()
        try fill(folder.mount)
        try expectNoWord(folder, "written")
        let file = "\(folder.mount)/\(names.all[0])/\(names.all[2]).plist"
        let (short, long) = (Array(try first.archive(records: 1500)), Array(try second.archive(records: 4000)))
        let open = try Call.open(file, O_RDWR)
        try Call.check(pwrite(open, long, long.count, 0))
        try Call.check(fsync(open))
        try expectNoWord(folder, "rewritten")
        try Call.check(ftruncate(open, long.count - 200_000))
        try Call.check(fsync(open))
        try expectNoWord(folder, "cut")
        for start in stride(from: 0, to: short.count - 5000, by: 30_000) {
            try Call.check(pwrite(open, Array(short[start..<start + 5000]), 5000, start))
            try Call.check(fsync(open))
        }
        try expectNoWord(folder, "rewritten in parts")
        try Call.check(close(open))
        try Call.check(Glibc.rename(file, "\(folder.mount)/\(names.all[1])"))
        // As most editors store a file.
        try Call.write(short, to: file + ".new")
        try Call.check(Glibc.rename(file + ".new", file))
        try expectNoWord(folder, "renamed")
        folder.unmount()
        try expectNoWord(folder, "unmounted")
        try folder.open(nil)
        #expect(try Call.read(file) == short)
    }

    // MARK: Helpers

    /// Makes a directory, an archive in it with an attribute, and a link to it.
    private func fill(_ place: String) throws {
        let directory = "\(place)/\(names.all[0])"
        let file = "\(directory)/\(names.all[2]).plist"
        try Call.check(mkdir(directory, 0o755))
        try Call.write(Array(try first.archive(records: 1500)), to: file)
        let value = Array(values.all[0].utf8)
        try Call.check(setxattr(file, "user.\(values.all[1])", value, value.count, 0))
        try Call.check(symlink("../\(names.all[1])", "\(directory)/link"))
    }

    private func expectNoWord(_ folder: TestFolder, _ state: String) throws {
        #expect(try !folder.stored.isEmpty, "\(state)")
        #expect(try Self.found([names, first, second, values], below: folder.store) == [], "\(state)")
    }

    /// Returns the words that are in names, targets of links, extended attributes and content below a
    /// directory.
    private static func found(_ searches: [KnownWords], below place: String) throws -> [String] {
        var bytes = Data()
        for name in try FileManager.default.subpathsOfDirectory(atPath: place) {
            let path = "\(place)/\(name)"
            bytes += Data(name.utf8)
            switch try Call.status(path).st_mode & S_IFMT {
            case S_IFLNK: bytes += Data(try Call.target(path).utf8)
            case S_IFREG:
                bytes += Data(try Call.read(path)) + (try attributes(of: path))
                if KnownWords.canPrint { bytes += try KnownWords.printableText(of: path) }
            default: break
            }
        }
        return searches.flatMap { $0.found(in: bytes) }
    }

    /// Returns the names and the values of the extended attributes of a file.
    private static func attributes(of path: String) throws -> Data {
        var list = [CChar](repeating: 0, count: 65_536)
        let count = try Call.check(listxattr(path, &list, list.count))
        let text = list.prefix(count).map { UInt8(bitPattern: $0) }
        var bytes = Data(text)
        for name in text.split(separator: 0).map({ String(decoding: $0, as: UTF8.self) }) {
            var value = [UInt8](repeating: 0, count: 65_536)
            let length = try Call.check(getxattr(path, name, &value, value.count))
            bytes += value.prefix(length)
        }
        return bytes
    }
}
