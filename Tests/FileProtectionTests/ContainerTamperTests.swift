// SPDX-License-Identifier: Apache-2.0

@testable import FileProtection
import Foundation
import KeychainModel
import KeychainTesting
import LinuxSystem
import Testing

/// Attacks on a file by a process with access to it.
@Suite struct ContainerTamperTests {
    private static let chunk = ContainerLayout.latest.chunkSize
    private static let slots = ContainerFormat.slotsOffset

    private static func file(_ key: TestKey, _ chunks: Int = 4, seed: UInt64 = 1) throws -> RecordedFile {
        let file = RecordedFile()
        let container = try Sample.container(file, key)
        try container.write(Sample.bytes(chunks * chunk - 5, seed), at: 0)
        try container.commit()
        return file
    }

    @Test(
        "A byte that is changed in both headers is noticed, and one that is changed in one of them gives the content",
        .long)
    func everyByte() throws {
        let key = TestKey()
        let file = RecordedFile()
        let container = try Sample.container(file, key)
        let content = Sample.bytes(700)
        try container.write(content, at: 0)
        try container.commit()
        let bytes = file.bytes
        let header = try ContainerHeader(decoding: bytes[..<ContainerFormat.headerLength])
        let used = header.authenticated.count + ContainerSeal.length + header.sealedState.count
        for position in bytes.indices {
            for flip: UInt8 in [0x01, 0x80] {
                // In both headers, because one of them is enough.
                var damaged = bytes
                damaged[position] ^= flip
                if position < ContainerFormat.headerLength { damaged[position + ContainerFormat.headerLength] ^= flip }
                guard position < ContainerFormat.headerLength || position >= Self.slots else { continue }
                #expect(throws: FileProtectionError.self, "byte \(position) of \(used)") {
                    _ = try Sample.open(RecordedFile(damaged), key).content()
                }
                guard position < ContainerFormat.headerLength else { continue }
                damaged[position + ContainerFormat.headerLength] ^= flip
                // The number of the version: the other header may be an older state then.
                guard position != 8, position != 9 else {
                    #expect(throws: FileProtectionError.self) { try Sample.open(RecordedFile(damaged), key) }
                    continue
                }
                #expect(try Sample.open(RecordedFile(damaged), key).content() == content)
            }
        }
    }

    @Test("A file that was cut is refused", arguments: [0, 1, 8, 100, 4095, 4096, 8191, 8192, 8193, 70_000, 90_000])
    func truncated(_ length: Int) throws {
        let key = TestKey()
        let file = try Self.file(key)
        let cut = RecordedFile(Array(file.bytes.prefix(length)))
        #expect(throws: FileProtectionError.self) { _ = try Sample.open(cut, key).content() }
    }

    @Test("Chunks that were exchanged, repeated, or copied from another file or an earlier state are refused")
    func splicing() throws {
        let key = TestKey()
        let file = try Self.file(key)
        let bytes = file.bytes
        func slot(_ number: Int) -> Range<Int> {
            let start = Self.slots + number * Self.chunk
            return start..<start + Self.chunk
        }
        var exchanged = bytes
        exchanged.replaceSubrange(slot(0), with: bytes[slot(1)])
        exchanged.replaceSubrange(slot(1), with: bytes[slot(0)])
        #expect(throws: FileProtectionError.damaged("chunk 0 was changed")) {
            _ = try Sample.open(RecordedFile(exchanged), key).content()
        }
        // The same content under the same key in another file.
        let other = try Self.file(key)
        var spliced = bytes
        spliced.replaceSubrange(slot(2), with: other.bytes[slot(2)])
        #expect(throws: FileProtectionError.damaged("chunk 2 was changed")) {
            _ = try Sample.open(RecordedFile(spliced), key).content()
        }
        // An earlier state of a chunk, put where its successor is.
        let container = try Sample.open(file, key, isWritable: true)
        try container.write([1], at: 0)
        try container.commit()
        let slotsAfter = (file.bytes.count - Self.slots + Self.chunk - 1) / Self.chunk
        for number in 0..<slotsAfter {
            var old = file.bytes
            let range = slot(number).clamped(to: 0..<old.count)
            old.replaceSubrange(range, with: bytes[slot(0)].prefix(range.count))
            let content = try? Sample.open(RecordedFile(old), key).content()
            #expect(content == nil || content?.first == 1)
        }
    }

    @Test("The header of an earlier state does not open later chunks that have taken its slots")
    func earlierHeader() throws {
        let key = TestKey()
        let file = try Self.file(key)
        let old = file.bytes
        let container = try Sample.open(file, key, isWritable: true)
        for round in 0..<3 as Range<UInt64> {
            try container.write(Sample.bytes(4 * Self.chunk - 5, round + 3), at: 0)
            try container.commit()
        }
        var mixed = file.bytes
        mixed.replaceSubrange(0..<Self.slots, with: old[..<Self.slots])
        #expect(throws: FileProtectionError.self) { _ = try Sample.open(RecordedFile(mixed), key).content() }
    }

    @Test("Headers that no writer makes are refused by name")
    func headers() throws {
        let key = TestKey()
        let bytes = try Self.file(key).bytes
        func opening(_ change: (inout [UInt8]) -> Void) -> FileProtectionError? {
            var changed = Array(bytes[..<ContainerFormat.headerLength])
            change(&changed)
            do throws(FileProtectionError) {
                _ = try FoundHeader(changed + changed) { _ throws(FileProtectionError) in FileKeyCipher(key) }
                return nil
            } catch {
                return error
            }
        }
        #expect(opening { $0 = Array("plain text".utf8) } == .notProtected)
        #expect(opening { $0 = [] } == .notProtected)
        #expect(opening { $0[9] = 3 } == .unsupportedVersion(3))
        #expect(opening { $0[9] = 0 } == .unsupportedVersion(0))
        #expect(opening { $0[21] = 1 } == .damaged("its chunks have 16385 bytes, expected 16384"))
        #expect(opening { $0[18] = 0xFF } == .damaged("its chunks have 4278206464 bytes, expected 16384"))
        #expect(opening { $0[9] = 1 } == .damaged("its chunks have 16384 bytes, expected 65536"))
        // Another format, with its chunk size: the seal has that of the writer.
        #expect(
            opening {
                $0.replaceSubrange(9..<10, with: [1]); $0.replaceSubrange(18..<22, with: [0, 1, 0, 0])
            }
                == .damaged("its header was changed"))
        #expect(opening { $0[40] = 9 } == .damaged("its key record is invalid"))
        #expect(opening { $0[2047] = 1 } == .damaged("the header is followed by unexpected bytes"))
        #expect(opening { $0[17] ^= 1 } == .damaged("its header was changed"))
        #expect(opening { _ in } == nil)
    }

    @Test("A state that no writer makes is refused although its seal is right")
    func states() throws {
        try states(.first, (length: 200 << 20, depth: 2))
        try states(.latest, (length: 8 << 30, depth: 3))
    }

    private func states(_ layout: ContainerLayout, _ deep: (length: UInt64, depth: UInt8)) throws {
        let key = TestKey()
        let cipher = FileKeyCipher(key)
        var state = ContainerState()
        state.length = 10
        func opens(_ change: (inout ContainerState) -> Void) throws -> Bool {
            var changed = state
            change(&changed)
            let header = try ContainerHeader(sealing: changed, layout, 1, try Sample.record(), with: cipher)
            return try header.state(with: cipher) != nil
        }
        #expect(try opens { _ in })
        #expect(try !opens { $0.depth = 1 })
        #expect(try !opens { $0.length = ContainerFormat.maxLength + 1 })
        #expect(try !opens { $0.length = deep.length })
        #expect(try opens { ($0.length, $0.depth) = (deep.length, deep.depth) })
        #expect(try !opens { ($0.length, $0.depth) = (deep.length, deep.depth + 1) })
        #expect(try opens { ($0.length, $0.depth) = (ContainerFormat.maxLength, layout.maxDepth) })
        #expect(try !opens { $0.metadata = [UInt8](repeating: 1, count: 513) })
        let bytes = state.encoded
        for length in bytes.indices { #expect(ContainerState(decoding: Array(bytes[..<length]), .latest) == nil) }
        #expect(ContainerState(decoding: bytes + [0], .latest) == nil)
    }

    @Test("A key that has encrypted too much is not used further")
    func exhausted() throws {
        let key = TestKey()
        let file = try Self.file(key)
        let container = try Sample.open(file, key, isWritable: true)
        container.state.withLock { $0.storage.seals = ContainerFormat.maxSeals }
        #expect(throws: FileProtectionError.keyExhausted) {
            try container.write([1], at: 0)
            try container.commit()
        }
        #expect(try Sample.open(file, key).content() == Sample.bytes(4 * Self.chunk - 5))
    }

    @Test("A closed class is reported, and the older header is not used")
    func closedClass() throws {
        let (file, key) = (RecordedFile(), TestKey())
        let container = try Sample.container(file, key)
        try container.write(Sample.bytes(10), at: 0)
        try container.commit()
        let older = file.bytes
        try container.write(Sample.bytes(10, 2), at: 0)
        try container.commit()
        // The newest header and an older one, both with the same key.
        let length = ContainerFormat.headerLength
        file.replaceBytes(Array(older[..<length]) + file.bytes[length...])
        #expect(try Sample.open(file, key).content() == Sample.bytes(10, 2))
        key.setOpen(false)
        let error = #expect(throws: FileProtectionError.self) { try Sample.open(file, key) }
        #expect(error == .key(TestKey.closed))
    }
}
