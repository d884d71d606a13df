// SPDX-License-Identifier: Apache-2.0

/// The slots that are in use. A slot that the stored state refers to is not reused until the next
/// state is stored, so that a crash leaves the stored state whole.
struct SlotAllocator {
    /// One bit for each slot that the stored or the new state refers to.
    private var taken: [UInt64] = []
    /// One bit for each slot that was taken since the state was stored.
    private var fresh: [UInt64] = []
    /// Slots of the stored state that the new one does not need.
    private var released: [UInt32] = []
    /// No word before this one has a free slot.
    private var firstFree = 0

    /// Marks a slot of the stored state.
    ///
    /// - Returns: false if it was marked before.
    mutating func mark(_ slot: UInt32) -> Bool {
        reserve(Int(slot))
        let (word, bit) = Self.position(slot)
        guard taken[word] & bit == 0 else { return false }
        taken[word] |= bit
        return true
    }

    /// Returns the lowest free slot; nil if there is none.
    mutating func allocate() -> UInt32? {
        while firstFree < taken.count, taken[firstFree] == .max { firstFree += 1 }
        if firstFree == taken.count { reserve(firstFree * UInt64.bitWidth) }
        let index = firstFree * UInt64.bitWidth + (~taken[firstFree]).trailingZeroBitCount
        guard let slot = UInt32(exactly: index), slot < .max else { return nil }
        let (word, bit) = Self.position(slot)
        taken[word] |= bit
        fresh[word] |= bit
        return slot
    }

    /// Releases a slot that the new state does not refer to.
    mutating func release(_ slot: UInt32) {
        let (word, bit) = Self.position(slot)
        guard word < taken.count else { return }
        guard fresh[word] & bit != 0 else { return released.append(slot) }
        fresh[word] &= ~bit
        free(word, bit)
    }

    /// Records that the new state is stored, so that slots with references only from the former state are free.
    mutating func commit() {
        for word in fresh.indices { fresh[word] = 0 }
        for slot in released {
            let (word, bit) = Self.position(slot)
            free(word, bit)
        }
        released = []
    }

    /// The number of slots up to the last one in use.
    var end: UInt64 {
        guard let word = taken.lastIndex(where: { $0 != 0 }) else { return 0 }
        return UInt64((word + 1) * UInt64.bitWidth - taken[word].leadingZeroBitCount)
    }

    private mutating func free(_ word: Int, _ bit: UInt64) {
        taken[word] &= ~bit
        firstFree = min(firstFree, word)
    }

    private mutating func reserve(_ slot: Int) {
        let count = slot / UInt64.bitWidth + 1
        guard count > taken.count else { return }
        taken += [UInt64](repeating: 0, count: count - taken.count)
        fresh += [UInt64](repeating: 0, count: count - fresh.count)
    }

    private static func position(_ slot: UInt32) -> (word: Int, bit: UInt64) {
        (Int(slot) / UInt64.bitWidth, 1 << (UInt64(slot) % UInt64(UInt64.bitWidth)))
    }
}
