// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Latchkey

/// The content of a big file: the same MiB of random bytes again and again.
struct BigFileContent {
    let piece: [UInt8]
    let mebibytes: Int

    init(mebibytes: Int) {
        var generator = SeededGenerator(state: 0x4C4B_4559)
        piece = (0..<1 << 20).map { _ in UInt8.random(in: 0...255, using: &generator) }
        self.mebibytes = mebibytes
    }

    /// In bytes.
    var length: Int { piece.count * mebibytes }

    /// Fails if something else was read.
    func verify(_ reading: BigFileReading, of name: String) throws {
        guard reading.length == length, reading.last == piece else {
            throw BenchmarkFailure("\(name): the content is not the one that was written")
        }
    }
}

/// The result of reading a big file.
struct BigFileReading {
    var length = 0
    /// The last piece.
    var last: [UInt8] = []
}

/// A way to store a big file.
protocol BigFileContender {
    var name: String { get }
    /// The file.
    var path: String { get }
    /// Files and directories on the disk that hold the content, beside ``path``.
    var stores: [String] { get }

    /// Creates the file in pieces. It is durable at the end.
    func write(_ content: BigFileContent) throws

    /// Reads the file in pieces.
    ///
    /// - Returns: nil if another program has read it.
    func read() throws -> BigFileReading?
}

extension BigFileContender {
    var stores: [String] { [] }

    /// Removes the file, if it is there.
    func remove() throws {
        guard unlink(path) == 0 || errno == ENOENT else { throw BenchmarkFailure("cannot remove \(path)") }
    }
}

/// A plain file, on the disk or in a mounted folder.
struct PlainFileContender: BigFileContender {
    let name: String
    let path: String
    var stores: [String] = []

    func write(_ content: BigFileContent) throws {
        let file = try OpenFile(creating: path)
        for _ in 0..<content.mebibytes { try file.write(content.piece, count: content.piece.count) }
        try file.synchronize()
    }

    func read() throws -> BigFileReading? {
        let file = try OpenFile(reading: path)
        var reading = BigFileReading(last: [UInt8](repeating: 0, count: 1 << 20))
        while true {
            let count = try file.read(into: &reading.last, at: reading.length)
            guard count > 0 else { return reading }
            reading.length += count
        }
    }
}

/// A protected file, through the calls of a program.
struct ProtectedFileContender: BigFileContender {
    let name = "ProtectedFile"
    let path: String

    func write(_ content: BigFileContent) throws {
        let file = try ProtectedFile.create(path, protection: .completeUntilFirstUserAuthentication)
        for number in 0..<content.mebibytes {
            try file.write(content.piece, at: UInt64(number * content.piece.count))
        }
        try file.close()
    }

    func read() throws -> BigFileReading? {
        let file = try ProtectedFile(path)
        var (length, last) = (0, Data())
        while true {
            let part = try file.read(at: UInt64(length), count: 1 << 20)
            guard !part.isEmpty else { break }
            length += part.count
            last = part
        }
        try file.close()
        return BigFileReading(length: length, last: Array(last))
    }
}
