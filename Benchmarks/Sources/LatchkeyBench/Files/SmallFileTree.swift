// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// Plain files of 1 to 4 KiB, in directories of equal size.
struct SmallFileTree {
    let path: String
    let files: Int
    let directories: Int
    /// The end of the files' names.
    var suffix = ""

    func file(_ number: Int) -> String { "\(directory(number * directories / files))/\(number)\(suffix)" }

    private func directory(_ number: Int) -> String { "\(path)/\(number)" }

    func makeDirectories() throws {
        for number in 0..<directories {
            try FileManager.default.createDirectory(atPath: directory(number), withIntermediateDirectories: true)
        }
    }

    /// Creates the files. They are not durable yet.
    func makeFiles() throws {
        for number in 0..<files {
            try OpenFile(creating: file(number)).write(Self.bytes, count: 1024 + number * 769 % 3073)
        }
    }

    /// Writes each file to the disk, and then each directory.
    func synchronize() throws {
        for number in 0..<files { try OpenFile(reading: file(number)).synchronize() }
        for number in 0..<directories { try OpenFile(reading: directory(number)).synchronize() }
    }

    /// Gives each file the name that it has in the other tree.
    func rename(to other: SmallFileTree) throws {
        for number in 0..<files {
            guard Glibc.rename(file(number), other.file(number)) == 0 else {
                throw BenchmarkFailure("cannot rename \(file(number)): \(String(cString: strerror(errno)))")
            }
        }
    }

    func deleteFiles() throws {
        for number in 0..<files {
            guard unlink(file(number)) == 0 else {
                throw BenchmarkFailure("cannot delete \(file(number)): \(String(cString: strerror(errno)))")
            }
        }
    }

    /// Deletes everything.
    func remove() throws { try FileManager.default.removeItem(atPath: path) }

    private static let bytes: [UInt8] = {
        var generator = SeededGenerator(state: 1)
        return (0..<4096).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }()
}
