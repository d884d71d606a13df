// SPDX-License-Identifier: Apache-2.0

import CZlib
import Decompression
import Foundation
import SQLiteConnections

/// Writes archives for tests.
enum ArchiveMaker {
    static func zip(_ files: [(name: String, bytes: [UInt8])], isCompressed: Bool = true) -> [UInt8] {
        var (archive, directory) = ([UInt8](), [UInt8]())
        for (name, bytes) in files {
            let data = isCompressed ? deflate(bytes, bits: -15) : bytes
            let fields =
                little(20, 2) + little(0, 2) + little(isCompressed ? 8 : 0, 2) + little(0, 4)
                + little(Int(CRC32.value(of: bytes)), 4)
                + little(data.count, 4) + little(bytes.count, 4) + little(name.utf8.count, 2) + little(0, 2)
            directory +=
                little(0x0201_4B50, 4) + little(20, 2) + fields + little(0, 2) + little(0, 2) + little(0, 2)
                + little(0, 4)
                + little(archive.count, 4) + Array(name.utf8)
            archive += little(0x0403_4B50, 4) + fields + Array(name.utf8) + data
        }
        return archive + directory + little(0x0605_4B50, 4) + little(0, 4) + little(files.count, 2)
            + little(files.count, 2)
            + little(directory.count, 4) + little(archive.count, 4) + little(0, 2)
    }

    static func tar(_ files: [(name: String, bytes: [UInt8])]) -> [UInt8] {
        var archive: [UInt8] = []
        for (name, bytes) in files {
            var header = [UInt8](repeating: 0, count: 512)
            func put(_ text: String, at offset: Int) {
                header.replaceSubrange(offset..<offset + text.utf8.count, with: text.utf8)
            }
            put(String(name.prefix(100)), at: 0)
            put("0000644", at: 100)
            let size = String(bytes.count, radix: 8)
            put(String(repeating: "0", count: 11 - size.count) + size, at: 124)
            put("        ", at: 148)
            put("0", at: 156)
            put("ustar", at: 257)
            put("00", at: 263)
            let sum = String(header.reduce(0) { $0 + Int($1) }, radix: 8)
            put(String(repeating: "0", count: 6 - sum.count) + sum + "\0", at: 148)
            archive += header + bytes + [UInt8](repeating: 0, count: (512 - bytes.count % 512) % 512)
        }
        return archive + [UInt8](repeating: 0, count: 1024)
    }

    static func gzip(_ bytes: [UInt8]) -> [UInt8] { deflate(bytes, bits: 31) }

    private static func deflate(_ bytes: [UInt8], bits: Int32) -> [UInt8] {
        var stream = z_stream()
        deflateInit2_(
            &stream, 6, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        defer { deflateEnd(&stream) }
        var (input, output) = (bytes, [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count))) + 32))
        let count = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                (stream.next_in, stream.avail_in) = (input.baseAddress, UInt32(input.count))
                (stream.next_out, stream.avail_out) = (output.baseAddress, UInt32(output.count))
                _ = CZlib.deflate(&stream, Z_FINISH)
                return output.count - Int(stream.avail_out)
            }
        }
        return Array(output.prefix(count))
    }

    private static func little(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}

/// Writes databases for tests.
enum SQLiteMaker {
    static func database(_ sql: String) -> [UInt8] { make(sql, nil).file }

    /// A database, and the write-ahead log of a later change that is in the log alone.
    static func databaseWithLog(_ sql: String, _ change: String) -> (file: [UInt8], log: [UInt8]) { make(sql, change) }

    private static func make(_ sql: String, _ change: String?) -> (file: [UInt8], log: [UInt8]) {
        let directory = FileManager.default.temporaryDirectory.appending(path: "latchkey-scan-\(UUID().uuidString)")
        try? FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appending(path: "made.db").path
        guard let database = try? Database(path, .readWrite) else { return ([], []) }
        try? database.execute(
            change == nil
                ? sql
                : "PRAGMA journal_mode = WAL; \(sql); PRAGMA wal_checkpoint(TRUNCATE); PRAGMA wal_autocheckpoint = 0")
        if let change { try? database.execute(change) }
        // The log is removed when the database is closed.
        let log = FileManager.default.contents(atPath: path + "-wal").map { [UInt8]($0) } ?? []
        if change == nil { database.close() }
        return (FileManager.default.contents(atPath: path).map { [UInt8]($0) } ?? [], log)
    }
}
