// SPDX-License-Identifier: Apache-2.0

internal import SecretMemory

/// The content of some chunks in memory: those that were read last, and those that were changed and
/// are not sealed yet.
struct ChunkCache {
    private var entries: [UInt64: Entry] = [:]
    private var uses: UInt64 = 0
    private let maxCount: Int

    private struct Entry {
        let buffer: ChunkBuffer
        var isDirty: Bool
        var lastUse: UInt64
    }

    /// - Parameter maxCount: the chunks that are kept; changed ones in addition to it.
    init(maxCount: Int) { self.maxCount = maxCount }

    /// The changed chunks that are kept.
    static let maxDirtyCount = 16

    /// Returns a chunk's content; nil if it is not in memory.
    mutating func buffer(of chunk: UInt64) -> ChunkBuffer? {
        guard let entry = entries[chunk] else { return nil }
        uses += 1
        entries[chunk]?.lastUse = uses
        return entry.buffer
    }

    mutating func insert(_ chunk: UInt64, _ buffer: ChunkBuffer, isDirty: Bool) {
        uses += 1
        let isDirty = isDirty || entries[chunk]?.isDirty == true
        if !isDirty, entries.count >= maxCount, let oldest = oldest(where: { !$0.isDirty }) { entries[oldest] = nil }
        guard isDirty || maxCount > 0 else { return }
        entries[chunk] = Entry(buffer: buffer, isDirty: isDirty, lastUse: uses)
    }

    func isDirty(_ chunk: UInt64) -> Bool { entries[chunk]?.isDirty == true }

    /// The changed chunks, in their order.
    var dirtyChunks: [UInt64] { entries.filter(\.value.isDirty).keys.sorted() }

    /// The changed chunk to seal before another one is changed; nil if there is room.
    func surplus(except last: UInt64?) -> UInt64? {
        guard entries.values.count(where: \.isDirty) >= Self.maxDirtyCount else { return nil }
        return entries.filter { $0.value.isDirty && $0.key != last }.min { $0.value.lastUse < $1.value.lastUse }?.key
    }

    /// Records that the chunk was sealed as it is.
    mutating func wasSealed(_ chunk: UInt64) {
        entries[chunk]?.isDirty = false
        if entries.count > maxCount { entries[chunk] = nil }
    }

    mutating func remove(_ chunk: UInt64) { entries[chunk] = nil }

    /// Removes the chunks from number `count` on.
    mutating func removeAll(from count: UInt64) {
        for chunk in entries.keys where chunk >= count { entries[chunk] = nil }
    }

    /// Removes, and wipes, what was not changed.
    mutating func removeClean() {
        for (chunk, entry) in entries where !entry.isDirty { entries[chunk] = nil }
    }

    private func oldest(where isCandidate: (Entry) -> Bool) -> UInt64? {
        entries.filter { isCandidate($0.value) }.min { $0.value.lastUse < $1.value.lastUse }?.key
    }
}

/// The content of one chunk, followed by zeros; wiped when the last reference ends.
final class ChunkBuffer {
    private let memory: ChunkMemory

    init() { memory = ChunkMemory.take() }

    deinit { memory.giveBack() }

    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try memory.bytes.withUnsafeMutableBytes(body)
    }
}
