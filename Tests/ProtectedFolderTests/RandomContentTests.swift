// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import Testing

/// Random operations on one file, compared with an array, after the manner of fsx.
@Suite(.enabled(if: TestFolder.isAvailable, TestFolder.reason)) struct RandomContentTests {
    private static let maxLength = 400_000

    @Test("A file has the content of an array after thousands of random operations", .long, arguments: 0..<3)
    func random(_ run: Int) throws {
        let seed =
            ProcessInfo.processInfo.environment["LATCHKEY_SEED"].flatMap { UInt64($0) }
            ?? UInt64.random(in: 1...1_000_000)
        let folder = try TestFolder()
        var random = SeededGenerator(seed: seed &+ UInt64(run) &* 7919)
        var model: [UInt8] = []
        let path = folder.path("file")
        var file = try Call.open(path, O_CREAT | O_RDWR)
        defer { close(file) }
        for step in 0..<3000 {
            let operation = Int.random(in: 0..<12, using: &random)
            try Self.perform(operation, &file, path, &model, folder, &random)
            guard step % 50 == 49 else { continue }
            let content = try Call.read(file)
            let size = try Call.status(path).st_size
            try #require(size == model.count, "seed \(seed), run \(run), step \(step)")
            try #require(content == model, "seed \(seed), run \(run), step \(step), operation \(operation)")
        }
        folder.unmountedCheck(path, model, seed)
    }

    private static func perform(
        _ operation: Int, _ file: inout Int32, _ path: String, _ model: inout [UInt8], _ folder: TestFolder,
        _ random: inout SeededGenerator
    ) throws {
        let offset = Int.random(in: 0..<maxLength, using: &random)
        let count = Int.random(
            in: 1...[10, 5000, 70_000, 140_000][Int.random(in: 0..<4, using: &random)], using: &random)
        switch operation {
        case 0...3: try write(file, at: min(offset, max(0, maxLength - count)), count, &model, &random)
        case 4: try write(file, at: model.count, min(count, max(1, maxLength - model.count)), &model, &random)
        case 5, 6:
            var buffer = [UInt8](repeating: 0, count: count)
            let got = try Call.check(pread(file, &buffer, count, offset))
            let expected = offset < model.count ? model[offset..<min(model.count, offset + count)] : []
            try #require(Array(buffer.prefix(got)) == Array(expected))
        case 7:
            try Call.check(ftruncate(file, offset))
            resize(&model, offset)
        case 8: try mapped(file, &model, &random)
        case 9:
            close(file)
            file = try Call.open(path, O_RDWR)
        case 10: try Call.check(fsync(file))
        default:
            // The lock in between; the written content stays.
            guard Int.random(in: 0..<4, using: &random) == 0 else { return }
            folder.lock()
            folder.unlock()
        }
    }

    private static func resize(_ model: inout [UInt8], _ length: Int) {
        if length < model.count {
            model.removeLast(model.count - length)
        } else {
            model += [UInt8](repeating: 0, count: length - model.count)
        }
    }

    private static func write(
        _ file: Int32, at offset: Int, _ count: Int, _ model: inout [UInt8], _ random: inout SeededGenerator
    ) throws {
        let bytes = sampleBytes(count, random.next())
        #expect(try Call.check(pwrite(file, bytes, count, offset)) == count)
        if model.count < offset + count { resize(&model, offset + count) }
        model.replaceSubrange(offset..<offset + count, with: bytes)
    }

    /// Changes mapped memory, and reads it.
    private static func mapped(_ file: Int32, _ model: inout [UInt8], _ random: inout SeededGenerator) throws {
        guard !model.isEmpty else { return }
        let memory = try #require(mmap(nil, model.count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0))
        try #require(memory != MAP_FAILED)
        for _ in 0..<20 {
            let place = Int.random(in: 0..<model.count, using: &random)
            try #require(memory.load(fromByteOffset: place, as: UInt8.self) == model[place])
            let value = UInt8.random(in: 0...255, using: &random)
            memory.storeBytes(of: value, toByteOffset: place, as: UInt8.self)
            model[place] = value
        }
        #expect(msync(memory, model.count, MS_SYNC) == 0)
        munmap(memory, model.count)
    }
}

extension TestFolder {
    /// Compares the content that another mount reads.
    func unmountedCheck(_ path: String, _ model: [UInt8], _ seed: UInt64) {
        #expect(Call.code { close(try Call.open(path, O_RDONLY)) } == 0)
        unmount()
        #expect(throws: Never.self) { try self.open(nil) }
        #expect((try? Call.read(path)) == model, "seed \(seed), after mounting again")
    }
}
