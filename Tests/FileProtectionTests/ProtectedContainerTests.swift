// SPDX-License-Identifier: Apache-2.0

@testable import FileProtection
import Foundation
import KeychainModel
import KeychainTesting
import LinuxSystem
import SecretMemory
import Testing

@Suite struct ProtectedContainerTests {
    private static let chunk = ContainerLayout.latest.chunkSize

    @Test(
        "Content of any length is read as it was written",
        arguments: [0, 1, 100, chunk - 1, chunk, chunk + 1, 3 * chunk, 5 * chunk + 17])
    func content(length: Int) throws {
        let (file, key) = (RecordedFile(), TestKey())
        let container = try Sample.container(file, key)
        let bytes = Sample.bytes(length)
        try container.write(bytes, at: 0)
        #expect(try container.content() == bytes)
        try container.commit()
        let reader = try Sample.open(file, key)
        #expect(try reader.length == UInt64(length))
        #expect(try reader.content() == bytes)
        #expect(try reader.content(at: UInt64(length) / 2, count: length) == Array(bytes[(length / 2)...]))
        #expect(try reader.content(at: UInt64(length) + 1, count: 10) == [])
    }

    @Test("A small file takes the headers and its own bytes")
    func size() throws {
        let (file, key) = (RecordedFile(), TestKey())
        let container = try Sample.container(file, key)
        try container.write(Sample.bytes(100), at: 0)
        try container.commit()
        #expect(file.bytes.count == ContainerFormat.slotsOffset + 100)
    }

    /// Random writes, truncations, commits and reopenings give the same content as plain bytes.
    @Test(
        "A long series of changes gives the same content as in a plain file", .long,
        arguments: 1...8 as ClosedRange<UInt64>)
    func model(seed: UInt64) throws {
        let (file, key) = (RecordedFile(), TestKey())
        var container = try Sample.container(file, key, seed.isMultiple(of: 2) ? .first : .latest)
        var plain: [UInt8] = []
        var random = SeededGenerator(seed: seed)
        for step in 0..<150 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                let length = Int.random(in: 0...6 * Self.chunk, using: &random)
                try container.truncate(to: UInt64(length))
                plain =
                    length <= plain.count
                    ? Array(plain[..<length]) : plain + [UInt8](repeating: 0, count: length - plain.count)
            case 1: try Bool.random(using: &random) ? container.commit() : container.synchronize()
            case 2:
                try container.commit()
                container.close()
                container = try Sample.open(file, key, isWritable: true)
            case 3:
                let offset = Int.random(in: 0...plain.count, using: &random)
                let count = Int.random(in: 0...2 * Self.chunk, using: &random)
                #expect(
                    try container.content(at: UInt64(offset), count: count)
                        == Array(plain[offset...].prefix(count)))
            default:
                let offset = Int.random(in: 0...plain.count + Self.chunk, using: &random)
                let isLarge = Bool.random(using: &random)
                let aligned = isLarge ? offset / Self.chunk * Self.chunk : offset
                let count = isLarge ? 2 * Self.chunk : Int.random(in: 1...9000, using: &random)
                let bytes = Sample.bytes(count, seed &* 1000 &+ UInt64(step))
                try container.write(bytes, at: UInt64(aligned))
                if plain.count < aligned + count {
                    plain += [UInt8](repeating: 0, count: aligned + count - plain.count)
                }
                plain.replaceSubrange(aligned..<aligned + count, with: bytes)
            }
            guard plain.count < 40 * Self.chunk else {
                try container.truncate(to: 0)
                plain = []
                continue
            }
        }
        #expect(try container.content() == plain)
        try container.commit()
        #expect(try Sample.open(file, key).content() == plain)
        // Slots are used again: the file does not grow with the number of changes.
        #expect(file.bytes.count < ContainerFormat.slotsOffset + 130 * Self.chunk)
    }

    @Test("A map of several levels holds sparse content, and unwritten chunks take no space")
    func sparse() throws {
        let (file, key) = (RecordedFile(), TestKey())
        let container = try Sample.container(file, key)
        // In the first chunk, in the second node, and far beyond the range of one node of level 2.
        let places: [UInt64] = [5, 20 << 20, 600 << 30]
        for place in places { try container.write(Sample.bytes(50, place + 1), at: place) }
        try container.commit()
        #expect(file.bytes.count < ContainerFormat.slotsOffset + 16 * Self.chunk)
        let reader = try Sample.open(file, key, isWritable: true)
        for place in places { #expect(try reader.content(at: place, count: 50) == Sample.bytes(50, place + 1)) }
        #expect(try reader.content(at: 100 << 30, count: 20) == [UInt8](repeating: 0, count: 20))
        try reader.truncate(to: (20 << 20) + 10)
        #expect(try reader.content(at: 20 << 20, count: 50) == Array(Sample.bytes(50, (20 << 20) + 1).prefix(10)))
        try reader.truncate(to: 3)
        try reader.commit()
        #expect(file.bytes.count < ContainerFormat.slotsOffset + 16 * Self.chunk)
        try reader.write([1], at: 0)
        try reader.commit()
        #expect(try Sample.open(file, key).content() == [1, 0, 0])
    }

    @Test("A file of format 1 is read and changed as one of format 1")
    func firstFormat() throws {
        let (file, key) = (RecordedFile(), TestKey())
        let container = try Sample.container(file, key, .first)
        try container.write(Sample.bytes(200_000), at: 0)
        try container.commit()
        container.close()
        let writer = try Sample.open(file, key, isWritable: true)
        try writer.write(Sample.bytes(30_000, 2), at: 60_000)
        try writer.commit()
        try writer.rewrap(Sample.record("com.example.other"), FileKeyCipher(key))
        #expect(
            try Sample.open(file, key).content()
                == Sample.bytes(200_000)[..<60_000] + Sample.bytes(30_000, 2) + Sample.bytes(200_000)[90_000...])
        for start in [0, ContainerFormat.headerLength] {
            #expect(Array(file.bytes[start + 8..<start + 10]) == [0, 1])
            #expect(Array(file.bytes[start + 18..<start + 22]) == [0, 1, 0, 0])
        }
    }

    @Test("Content beyond the largest length is refused")
    func tooLarge() throws {
        let container = try Sample.container(RecordedFile(), TestKey())
        #expect(throws: FileProtectionError.tooLarge) { try container.write([1], at: ContainerFormat.maxLength) }
        #expect(throws: FileProtectionError.tooLarge) { try container.write([1, 2], at: .max) }
        #expect(throws: FileProtectionError.tooLarge) { try container.truncate(to: ContainerFormat.maxLength + 1) }
        try container.truncate(to: ContainerFormat.maxLength)
        try container.commit()
        #expect(try container.length == ContainerFormat.maxLength)
        try container.truncate(to: 0)
    }

    @Test("While the class is closed, nothing is read or written, and nothing that was written is lost")
    func closed() throws {
        let (file, key) = (RecordedFile(), TestKey())
        let container = try Sample.container(file, key)
        try container.write(Sample.bytes(1000), at: 0)
        try container.commit()
        try container.write([1, 2, 3], at: 10)
        _ = try container.content()
        key.setOpen(false)
        let closed = FileProtectionError.key(TestKey.closed)
        #expect(throws: closed) { try container.content(at: 0, count: 1) }
        #expect(throws: closed) { try container.write([1], at: 0) }
        #expect(throws: closed) { try container.truncate(to: 0) }
        #expect(throws: closed) { try container.commit() }
        #expect(throws: closed) { _ = try container.length }
        #expect(throws: closed) { _ = try Sample.open(file, key) }
        key.setOpen(true)
        try container.commit()
        #expect(try Sample.open(file, key).content(at: 10, count: 3) == [1, 2, 3])
    }

    @Test("Another handle sees each commit, and nothing before it")
    func readers() throws {
        let (file, key) = (RecordedFile(), TestKey())
        let writer = try Sample.container(file, key)
        try writer.write(Sample.bytes(3 * Self.chunk), at: 0)
        try writer.commit()
        let reader = try Sample.open(file, key)
        #expect(try reader.content() == Sample.bytes(3 * Self.chunk))
        for round in 0..<20 as Range<UInt64> {
            let fresh = Sample.bytes(2 * Self.chunk, round + 5)
            let before = try reader.content()
            try writer.write(fresh, at: 100)
            #expect(try reader.content() == before)
            try writer.commit()
            #expect(try reader.content(at: 100, count: fresh.count) == fresh)
        }
        #expect(throws: FileProtectionError.readOnly) { try reader.write([1], at: 0) }
    }

    @Test("A full disk fails the write, and the stored content stays")
    func fullDisk() throws {
        let (file, key) = (RecordedFile(), TestKey())
        let container = try Sample.container(file, key)
        let bytes = Sample.bytes(4 * Self.chunk)
        try container.write(bytes, at: 0)
        try container.commit()
        file.setRoom(file.bytes.count + Self.chunk)
        #expect(throws: FileProtectionError.system(SystemError("write", code: 28))) {
            try container.write(Sample.bytes(4 * Self.chunk, 2), at: 10)
            try container.commit()
        }
        #expect(try Sample.open(file, key).content() == bytes)
        file.setRoom(nil)
        try container.write(Sample.bytes(4 * Self.chunk, 2), at: 10)
        try container.commit()
        #expect(try Sample.open(file, key).content(at: 10, count: 100) == Array(Sample.bytes(100, 2)))
    }

    @Test("Metadata is sealed, kept over changes, and replaced together with them")
    func metadata() throws {
        let (file, key) = (RecordedFile(), TestKey())
        let container = try Sample.container(file, key, metadata: Array("notes.txt".utf8))
        try container.write([1], at: 0)
        try container.commit()
        #expect(try Sample.open(file, key).metadata == Array("notes.txt".utf8))
        #expect(Data(file.bytes).range(of: Data("notes".utf8)) == nil)
        try container.setMetadata([9])
        #expect(try Sample.open(file, key).metadata == Array("notes.txt".utf8))
        try container.commit()
        #expect(try Sample.open(file, key).metadata == [9])
        #expect(throws: FileProtectionError.tooLarge) { try container.setMetadata([UInt8](repeating: 0, count: 513)) }
    }

    @Test("A new wrapping of the key changes the headers alone")
    func rewrap() throws {
        let (file, key) = (RecordedFile(), TestKey())
        let container = try Sample.container(file, key)
        try container.write(Sample.bytes(3 * Self.chunk), at: 0)
        try container.commit()
        let before = file.bytes
        try container.rewrap(Sample.record("com.example.other"), FileKeyCipher(key))
        #expect(file.bytes[ContainerFormat.slotsOffset...] == before[ContainerFormat.slotsOffset...])
        let reader = try Sample.open(file, key)
        #expect(try reader.keyRecord.binding.group.name == "com.example.other")
        #expect(try reader.content() == Sample.bytes(3 * Self.chunk))
        // No header with the former wrapping is left.
        #expect(Data(file.bytes).range(of: Data("latchkey.shared".utf8)) == nil)
        #expect(throws: FileProtectionError.wrongKey) {
            try container.rewrap(Sample.record(file: 8), FileKeyCipher(key))
        }
    }

    @Test("One writer at a time; a reader does not disturb it")
    func lock() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/file"
        let key = TestKey()
        let create = try OwnedDescriptor(opening: path, flags: O_RDWR | O_CREAT | O_EXCL)
        let writer = try ProtectedContainer(creating: create, path: path, try Sample.record(), FileKeyCipher(key))
        try writer.commit()
        #expect(throws: FileProtectionError.inUse) {
            _ = try ProtectedContainer(
                opening: try OwnedDescriptor(opening: path, flags: O_RDWR), path: path, isWritable: true
            ) { _ throws(FileProtectionError) in FileKeyCipher(key) }
        }
        let reader = try ProtectedContainer(
            opening: try OwnedDescriptor(opening: path, flags: O_RDONLY), path: path, isWritable: false
        ) { _ throws(FileProtectionError) in FileKeyCipher(key) }
        #expect(try reader.length == 0)
    }

    @Test("The written parts of a sparse file are found in order, stored or not, across any gaps")
    func sparseParts() throws {
        let (file, key) = (RecordedFile(), TestKey())
        let container = try Sample.container(file, key)
        let chunk = UInt64(ContainerLayout.latest.chunkSize)
        let places: [UInt64] = [3, 511, 512, 5_000_000, 9_000_000]
        func found(in container: ProtectedContainer) throws -> [UInt64] {
            var (starts, position): ([UInt64], UInt64) = ([], 0)
            while let part = try container.nextData(from: position) {
                starts.append(part.lowerBound / chunk)
                position = part.upperBound
            }
            return starts
        }
        for (number, place) in places.enumerated() {
            try container.write([1], at: place * chunk)
            #expect(try found(in: container) == Array(places.prefix(number + 1)))
            if number.isMultiple(of: 2) { try container.commit() }
        }
        try container.truncate(to: 1 << 40)
        #expect(try found(in: container) == places)
        try container.commit()
        #expect(try found(in: Sample.open(file, key)) == places)
        try container.truncate(to: 512 * chunk)
        #expect(try found(in: container) == [3, 511])
        #expect(try container.nextData(from: 512 * chunk) == nil)
    }
}
