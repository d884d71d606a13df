// SPDX-License-Identifier: Apache-2.0

@testable import FileProtection
import Foundation
import KeychainModel
import KeychainTesting
import Testing

/// The file after a power failure at every point of a change: writes before the last synchronization are there; of the
/// later ones any part, in any order.
@Suite struct ContainerCrashTests {
    private static let layouts = [ContainerLayout.first, .latest]
    /// Of format 1: a change of it has several chunks of the newest format.
    private static let chunk = ContainerLayout.first.chunkSize

    private static let changes: [(name: String, change: @Sendable (ProtectedContainer) throws -> Void)] = [
        ("overwrite", { try $0.write(Sample.bytes(3 * chunk, 5), at: 100) }),
        ("append", { try $0.write(Sample.bytes(chunk + 9, 6), at: try $0.length) }),
        ("truncate", { try $0.truncate(to: 1000) }),
        ("empty", { try $0.truncate(to: 0) }),
        ("extend", { try $0.truncate(to: UInt64(40 * chunk)) }),
        ("a deeper map", { try $0.write([1, 2, 3], at: 200 << 20) }),
    ]

    @Test("A crash during a change leaves the old or the new content", .long, arguments: changes.indices, layouts)
    func crash(_ index: Int, _ layout: ContainerLayout) throws {
        let (file, key) = (RecordedFile(), TestKey())
        let container = try Sample.container(file, key, layout)
        let old = Sample.bytes(5 * Self.chunk + 77)
        try container.write(old, at: 0)
        try container.commit()
        // The state before has been changed once more, so that free slots and both headers are in use.
        try container.write(Sample.bytes(200, 9), at: UInt64(2 * Self.chunk))
        try container.commit()
        let before = file.bytes
        let contentBefore = try container.content()
        file.forgetSteps()
        try Self.changes[index].change(container)
        let lengthAfter = try container.length
        let digestAfter = try Self.digest(container)
        try container.commit()
        let steps = file.steps
        #expect(steps.contains(.synchronize))

        var random = SeededGenerator(seed: UInt64(index) + 1)
        var (sawOld, sawNew) = (false, false)
        for count in 0...steps.count {
            for _ in 0..<12 {
                let crashed = RecordedFile(Self.image(before, steps[..<count], using: &random))
                let found = try Sample.open(crashed, key, isWritable: true)
                if try found.length == lengthAfter, try Self.digest(found) == digestAfter {
                    sawNew = true
                } else {
                    #expect(try found.content() == contentBefore)
                    sawOld = true
                }
                // It can be changed again.
                try found.write([7], at: 0)
                try found.commit()
                #expect(try Sample.open(crashed, key).content(at: 0, count: 1) == [7])
            }
        }
        #expect(sawOld)
        #expect(sawNew)
    }

    /// Each change is synchronized as fsync(2) does, several of them in one handle.
    @Test("Synchronized content is there after a crash at any later time", .long, arguments: layouts)
    func synchronized(_ layout: ContainerLayout) throws {
        let (file, key) = (RecordedFile(), TestKey())
        let container = try Sample.container(file, key, layout)
        try container.write(Sample.bytes(3 * Self.chunk + 77), at: 0)
        try container.commit()
        let before = file.bytes
        file.forgetSteps()
        // Each content, and the number of steps before its acknowledgment.
        var acknowledged = [(steps: 0, content: try container.content())]
        for (number, offset) in [100, Self.chunk - 50, 3 * Self.chunk, 0, 40_000].enumerated() {
            try container.write(Sample.bytes(20_000, UInt64(number) + 2), at: UInt64(offset))
            if number == 3 { try container.truncate(to: 50_000) }
            try container.synchronize(withAttributes: number.isMultiple(of: 2))
            acknowledged.append((file.steps.count, try container.content()))
        }
        try container.finish()
        let steps = file.steps
        var random = SeededGenerator(seed: 3)
        for count in 0...steps.count {
            let last = try #require(acknowledged.lastIndex { $0.steps <= count })
            for _ in 0..<12 {
                let crashed = RecordedFile(Self.image(before, steps[..<count], using: &random))
                let found = try Sample.open(crashed, key, isWritable: true)
                let content = try found.content()
                #expect(acknowledged[last...].prefix(2).contains { $0.content == content }, "\(count) steps")
                try found.write([7], at: 0)
                try found.commit()
                #expect(try Sample.open(crashed, key).content() == [7] + content.dropFirst())
            }
        }
    }

    /// The content, as far as it is not too long to be read.
    private static func digest(_ container: ProtectedContainer) throws -> [UInt8] {
        let length = try container.length
        return try container.content(at: 0, count: Int(min(length, 8 << 20)))
            + container.content(at: length < 10 ? 0 : length - 10, count: 10)
    }

    /// Returns a possible content of the disk after these steps: the last ones since a synchronization may be missing,
    /// or be there in part.
    private static func image(
        _ before: [UInt8], _ steps: ArraySlice<RecordedFile.Step>, using random: inout SeededGenerator
    ) -> [UInt8] {
        var bytes = before
        let durable = steps.lastIndex(of: .synchronize) ?? steps.startIndex
        for step in steps[..<durable] { RecordedFile.apply(step, to: &bytes) }
        for step in steps[durable...].shuffled(using: &random) {
            switch (step, Int.random(in: 0..<3, using: &random)) {
            case (_, 0): continue
            case (.write(let content, let offset), 1):
                // Whole sectors, but not all of them.
                let sectors = Int.random(in: 0...content.count / 512, using: &random)
                RecordedFile.apply(.write(Array(content.prefix(sectors * 512)), offset), to: &bytes)
            default: RecordedFile.apply(step, to: &bytes)
            }
        }
        return bytes
    }
}
