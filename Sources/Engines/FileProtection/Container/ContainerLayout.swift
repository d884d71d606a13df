// SPDX-License-Identifier: Apache-2.0

/// How the content of a file is divided into sealed parts. The version in the header of the file determines it.
public struct ContainerLayout: Hashable, Sendable {
    public let version: UInt16
    /// The bytes of content that are sealed together; also the length of a slot and of a node.
    public let chunkSize: Int
    /// The depth of a map for ``ContainerFormat/maxLength`` bytes.
    let maxDepth: UInt8

    /// Of format 1: chunks of 64 KiB.
    public static let first = ContainerLayout(version: 1, chunkSize: 65_536, maxDepth: 3)
    /// Of format 2, as in new files: chunks of 16 KiB, so that a change or a read of a few bytes costs less.
    public static let latest = ContainerLayout(version: 2, chunkSize: 16_384, maxDepth: 4)

    private static let all = [first, latest]

    private init(version: UInt16, chunkSize: Int, maxDepth: UInt8) {
        (self.version, self.chunkSize, self.maxDepth) = (version, chunkSize, maxDepth)
    }

    /// Returns the layout of a version; nil for an unknown one.
    init?(version: UInt16) {
        guard let known = Self.all.first(where: { $0.version == version }) else { return nil }
        self = known
    }

    /// The references in one node of the map.
    var fanOut: Int { chunkSize / ChunkReference.length }

    func offset(ofSlot slot: UInt32) -> UInt64 {
        UInt64(ContainerFormat.slotsOffset) + UInt64(slot) * UInt64(chunkSize)
    }

    /// The number of chunks of a content.
    func chunkCount(_ length: UInt64) -> UInt64 {
        length / UInt64(chunkSize) + (length % UInt64(chunkSize) == 0 ? 0 : 1)
    }

    /// The number of the last chunk of a content; nil if there is none.
    func lastChunk(_ length: UInt64) -> UInt64? { length == 0 ? nil : (length - 1) / UInt64(chunkSize) }

    /// The length of one chunk of a content.
    func chunkLength(_ chunk: UInt64, of length: UInt64) -> Int {
        let start = chunk * UInt64(chunkSize)
        return start >= length ? 0 : Int(min(UInt64(chunkSize), length - start))
    }

    /// The number of chunks that a map of this depth can hold.
    func capacity(ofDepth depth: UInt8) -> UInt64 {
        (0..<depth).reduce(1) { capacity, _ in capacity * UInt64(fanOut) }
    }

    /// The depth of the map of a content: the smallest one that holds its chunks.
    func depth(of length: UInt64) -> UInt8 {
        let chunks = chunkCount(length)
        return (0...maxDepth).first { capacity(ofDepth: $0) >= chunks } ?? maxDepth
    }
}
