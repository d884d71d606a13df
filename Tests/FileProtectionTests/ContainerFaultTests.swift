// SPDX-License-Identifier: Apache-2.0

@testable import FileProtection
import Foundation
import KeychainModel
import LinuxSystem
import Testing

/// Faults of the storage device, and of bytes that another program has put into a file.
@Suite struct ContainerFaultTests {
    private static let chunk = ContainerLayout.latest.chunkSize

    @Test("After a power failure, the last committed state is whole, with any later writes")
    func onlyDurableStateIsCertain() throws {
        let (file, key) = (RecordedFile(), TestKey())
        let container = try Sample.container(file, key)
        try container.write(Sample.bytes(3 * Self.chunk + 5), at: 0)
        try container.commit()
        var before = (bytes: file.bytes, content: try container.content())
        for seed in 1...6 {
            file.forgetSteps()
            try container.write(Sample.bytes(2 * Self.chunk, UInt64(seed)), at: UInt64(seed % 2 * Self.chunk))
            try container.commit()
            let after = try container.content()
            for count in 0...file.steps.count {
                // Of the unsynchronized writes, the headers alone are stored, or everything else.
                for keepsHeaders in [true, false] {
                    let image = Self.image(before.bytes, file.steps[..<count], keepsHeaders: keepsHeaders)
                    let found = try Sample.open(RecordedFile(image), key).content()
                    #expect(found == before.content || found == after, "\(count) steps of \(seed)")
                }
            }
            before = (file.bytes, after)
        }
    }

    /// Returns the content of the disk after these steps, if only the header writes since the last synchronization were
    /// stored, or only the others.
    private static func image(
        _ before: [UInt8], _ steps: ArraySlice<RecordedFile.Step>, keepsHeaders: Bool
    ) -> [UInt8] {
        var bytes = before
        let durable = steps.lastIndex(of: .synchronize) ?? steps.startIndex
        for (index, step) in zip(steps.indices, steps) {
            let isHeader =
                if case .write(_, let offset) = step { offset < UInt64(ContainerFormat.slotsOffset) } else { false }
            if index < durable || isHeader == keepsHeaders { RecordedFile.apply(step, to: &bytes) }
        }
        return bytes
    }

    @Test("A header that cannot be written ends the changes of the handle; the file has the old or the new state")
    func failedHeader() throws {
        let (file, key) = (RecordedFile(), TestKey())
        let container = try Sample.container(file, key)
        try container.write(Sample.bytes(100), at: 0)
        try container.commit()
        try container.write(Sample.bytes(100, 2), at: 0)
        file.fail(0..<UInt64(ContainerFormat.slotsOffset))
        #expect(throws: FileProtectionError.self) { try container.commit() }
        file.fail(nil)
        #expect(throws: FileProtectionError.interrupted) { try container.write([1], at: 0) }
        #expect(throws: FileProtectionError.interrupted) { try container.commit() }
        #expect(try Sample.open(RecordedFile(file.bytes), key).content() == Sample.bytes(100))
    }

    @Test("A synchronization that fails ends the changes of the handle; the file has the former state")
    func failedSynchronization() throws {
        let (file, key) = (RecordedFile(), TestKey())
        let container = try Sample.container(file, key)
        try container.write(Sample.bytes(100), at: 0)
        try container.commit()
        try container.write(Sample.bytes(100, 2), at: 0)
        file.failsToSynchronize.withLock { $0 = true }
        #expect(throws: FileProtectionError.system(SystemError("synchronise", code: 5))) { try container.synchronize() }
        file.failsToSynchronize.withLock { $0 = false }
        // The device may have lost the chunks, and would not report it again.
        #expect(throws: FileProtectionError.interrupted) { try container.synchronize() }
        #expect(throws: FileProtectionError.interrupted) { try container.commit() }
        #expect(try Sample.open(RecordedFile(file.bytes), key).content() == Sample.bytes(100))
    }

    @Test("A change of an open file is durable after two synchronizations, and finished after one more")
    func synchronizations() throws {
        let (file, key) = (RecordedFile(), TestKey())
        let container = try Sample.container(file, key)
        try container.write(Sample.bytes(40_000), at: 0)
        try container.synchronize()
        #expect(file.steps.count { $0 == .synchronize } == 1)
        for number in 1...3 as ClosedRange<UInt8> {
            file.forgetSteps()
            try container.write([number], at: 20_000)
            try container.synchronize()
            #expect(file.steps.count { $0 == .synchronize } == 2)
            #expect(!file.steps.contains { if case .cut = $0 { true } else { false } })
        }
        file.forgetSteps()
        key.setOpen(false)
        try container.finish()
        #expect(file.steps.first == .synchronize)
        #expect(file.steps.count { $0 == .synchronize } == 1)
        try container.finish()
        #expect(file.steps.count { $0 == .synchronize } == 1)
    }

    @Test("The times of a file are set before they become durable, and again after the last step")
    func times() throws {
        let (file, key) = (RecordedFile(), TestKey())
        let container = try Sample.container(file, key)
        for _ in 0..<3 {
            try container.write([1], at: 0)
            file.forgetSteps()
            var places: [Int] = []
            try container.synchronize { places.append(file.steps.count) }
            let last = try #require(file.steps.lastIndex(of: .synchronize))
            #expect(places.contains(last))
            #expect(places.last == file.steps.count)
        }
    }

    @Test("A file that is much longer than its content is cut by a synchronization")
    func slack() throws {
        let (file, key) = (RecordedFile(), TestKey())
        let container = try Sample.container(file, key)
        try container.write(Sample.bytes(3 << 20), at: 0)
        try container.synchronize()
        try container.truncate(to: 10)
        try container.synchronize()
        try container.write([1], at: 0)
        try container.synchronize()
        #expect(file.bytes.count < 2 << 20)
    }

    @Test("A wrapping of another key is refused, and the file stays as it is")
    func foreignWrapping() throws {
        let (file, key) = (RecordedFile(), TestKey())
        let container = try Sample.container(file, key)
        try container.write(Sample.bytes(100), at: 0)
        try container.commit()
        let before = file.bytes
        #expect(throws: FileProtectionError.wrongKey) {
            try container.rewrap(Sample.record("com.example.other"), FileKeyCipher(TestKey()))
        }
        #expect(file.bytes == before)
        try container.write([9], at: 0)
        try container.commit()
    }

    @Test("A commit leaves the header that opens, if the other one is a damaged copy of it")
    func damagedOtherHeader() throws {
        let (file, key) = (RecordedFile(), TestKey())
        let container = try Sample.container(file, key)
        try container.write(Sample.bytes(100), at: 0)
        try container.commit()
        for index in 0...1 {
            var bytes = file.bytes
            bytes[index * ContainerFormat.headerLength] = 0
            let damaged = RecordedFile(bytes)
            let writer = try Sample.open(damaged, key, isWritable: true)
            try writer.write([7], at: 0)
            damaged.forgetSteps()
            try writer.commit()
            let first = damaged.steps.first { step in
                if case .write(_, let offset) = step { offset < UInt64(ContainerFormat.slotsOffset) } else { false }
            }
            guard case .write(_, let offset)? = first else {
                Issue.record("no header was written")
                continue
            }
            #expect(offset == UInt64(index * ContainerFormat.headerLength))
        }
    }

    @Test("A reference beyond the end of the file is refused before memory is used for it")
    func distantSlot() throws {
        let key = TestKey()
        let cipher = FileKeyCipher(key)
        var state = ContainerState()
        state.length = 10
        state.root = ChunkReference(slot: .max - 1, seal: try #require(ContainerSeal(Array(1...28))))
        let header = try ContainerHeader(sealing: state, .latest, 5, try Sample.record(), with: cipher)
        let file = RecordedFile(header.encoded + header.encoded)
        let writer = try Sample.open(file, key, isWritable: true)
        #expect(throws: FileProtectionError.damaged("it ends before slot 4294967294")) { try writer.write([1], at: 0) }
    }

    @Test("A writer synchronizes before its first change")
    func firstSynchronization() throws {
        let (file, key) = (RecordedFile(), TestKey())
        let container = try Sample.container(file, key)
        try container.write(Sample.bytes(2 * Self.chunk), at: 0)
        try container.commit()
        file.forgetSteps()
        let writer = try Sample.open(file, key, isWritable: true)
        try writer.write(Sample.bytes(Self.chunk, 2), at: 0)
        #expect(file.steps.first == .synchronize)
        #expect(file.steps.count > 1)
    }

    @Test("The highest sequence number is an error, not a trap")
    func lastSequence() throws {
        let key = TestKey()
        let header = try ContainerHeader(
            sealing: ContainerState(), .latest, .max, try Sample.record(), with: FileKeyCipher(key))
        let writer = try Sample.open(RecordedFile(header.encoded + header.encoded), key, isWritable: true)
        try writer.write([1], at: 0)
        #expect(throws: FileProtectionError.self) { try writer.commit() }
    }

    @Test("An older state that is put back under an open handle is refused")
    func olderState() throws {
        let (file, key) = (RecordedFile(), TestKey())
        let container = try Sample.container(file, key)
        try container.write(Sample.bytes(100), at: 0)
        try container.commit()
        let older = file.bytes
        try container.write(Sample.bytes(100, 2), at: 0)
        try container.commit()
        let reader = try Sample.open(file, key)
        #expect(try reader.content() == Sample.bytes(100, 2))
        file.replaceBytes(older)
        #expect(throws: FileProtectionError.damaged("an older state was put back")) { try reader.content() }
    }

    @Test("A file with one header of a newer version is refused")
    func newerVersion() throws {
        let (file, key) = (RecordedFile(), TestKey())
        try Sample.container(file, key).commit()
        for index in 0...1 {
            var bytes = file.bytes
            bytes[index * ContainerFormat.headerLength + 9] = 3
            #expect(throws: FileProtectionError.unsupportedVersion(3)) { try Sample.open(RecordedFile(bytes), key) }
        }
    }
}
