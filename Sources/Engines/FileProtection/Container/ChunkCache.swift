// SPDX-License-Identifier: Apache-2.0

/// The content of some chunks in memory: those that were read last, and those that were changed and
/// are not sealed yet.
struct ChunkCache {
    /// The places of chunks in `entries`.
    private var places: [UInt64: Int] = [:]
    /// Two rings, in the order of use. Each begins and ends at an entry of its own: ``clean`` and ``dirty``.
    private var entries: [Entry]
    /// Places of `entries` that are not in use.
    private var free: [Int] = []
    private var dirtyCount = 0
    private let maxCount: Int
    private let maxDirtyCount: Int

    private struct Entry {
        var chunk: UInt64 = 0
        /// nil for the beginning of a ring, and for a place that is not in use.
        var buffer: ChunkBuffer?
        var isDirty = false
        /// Used before this one.
        var older: Int
        /// Used after this one.
        var newer: Int
    }

    private static let clean = 0
    private static let dirty = 1

    /// - Parameters:
    ///   - maxCount: the chunks that are kept; changed ones in addition to it.
    ///   - maxDirtyCount: the changed chunks that are kept; at least 2.
    init(maxCount: Int, maxDirtyCount: Int) {
        (self.maxCount, self.maxDirtyCount) = (maxCount, maxDirtyCount)
        entries = [Self.clean, Self.dirty].map { Entry(older: $0, newer: $0) }
    }

    /// Returns a chunk's content; nil if it is not in memory.
    mutating func buffer(of chunk: UInt64) -> ChunkBuffer? {
        guard let place = places[chunk] else { return nil }
        if entries[ring(place)].older != place { move(place) }
        return entries[place].buffer
    }

    func contains(_ chunk: UInt64) -> Bool { places[chunk] != nil }

    mutating func insert(_ chunk: UInt64, _ buffer: ChunkBuffer, isDirty: Bool) {
        let isDirty = isDirty || self.isDirty(chunk)
        remove(chunk)
        if !isDirty {
            if entries.count - 2 - free.count - dirtyCount >= maxCount { removeOldestClean() }
            guard maxCount > 0 else { return }
        }
        let entry = Entry(chunk: chunk, buffer: buffer, isDirty: isDirty, older: 0, newer: 0)
        let place = free.popLast() ?? entries.count
        if place < entries.count { entries[place] = entry } else { entries.append(entry) }
        places[chunk] = place
        if isDirty { dirtyCount += 1 }
        link(place)
    }

    // MARK: Changed chunks

    func isDirty(_ chunk: UInt64) -> Bool { places[chunk].map { entries[$0].isDirty } ?? false }

    var hasDirtyChunks: Bool { dirtyCount > 0 }

    /// The changed chunks, in their order.
    var dirtyChunks: [UInt64] { oldestDirty(dirtyCount, except: nil).sorted() }

    /// The changed chunks to seal before another one is changed, in their order; none if there is room.
    func surplus(except last: UInt64?) -> [UInt64] {
        dirtyCount < maxDirtyCount ? [] : oldestDirty(max(1, maxDirtyCount / 4), except: last).sorted()
    }

    private func oldestDirty(_ count: Int, except last: UInt64?) -> [UInt64] {
        var chunks: [UInt64] = []
        var place = entries[Self.dirty].newer
        while place != Self.dirty, chunks.count < count {
            if entries[place].chunk != last { chunks.append(entries[place].chunk) }
            place = entries[place].newer
        }
        return chunks
    }

    /// Records that the chunk was sealed as it is.
    mutating func wasSealed(_ chunk: UInt64) {
        guard let place = places[chunk], entries[place].isDirty, let buffer = entries[place].buffer else { return }
        remove(chunk)
        insert(chunk, buffer, isDirty: false)
    }

    // MARK: Removing

    mutating func remove(_ chunk: UInt64) {
        guard let place = places.removeValue(forKey: chunk) else { return }
        unlink(place)
        if entries[place].isDirty { dirtyCount -= 1 }
        entries[place].buffer = nil
        free.append(place)
    }

    /// Removes the chunks from number `count` on.
    mutating func removeAll(from count: UInt64) {
        for chunk in places.keys where chunk >= count { remove(chunk) }
    }

    /// Removes and wipes the unchanged chunks.
    mutating func removeClean() {
        while entries[Self.clean].newer != Self.clean { removeOldestClean() }
    }

    private mutating func removeOldestClean() {
        let oldest = entries[Self.clean].newer
        if oldest != Self.clean { remove(entries[oldest].chunk) }
    }

    // MARK: The rings

    private func ring(_ place: Int) -> Int { entries[place].isDirty ? Self.dirty : Self.clean }

    private mutating func move(_ place: Int) {
        unlink(place)
        link(place)
    }

    private mutating func unlink(_ place: Int) {
        let (older, newer) = (entries[place].older, entries[place].newer)
        entries[older].newer = newer
        entries[newer].older = older
    }

    /// Makes a chunk the one that was used last.
    private mutating func link(_ place: Int) {
        let ring = ring(place)
        let last = entries[ring].older
        (entries[place].older, entries[place].newer) = (last, ring)
        entries[last].newer = place
        entries[ring].older = place
    }
}
