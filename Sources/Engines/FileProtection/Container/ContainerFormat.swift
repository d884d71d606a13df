// SPDX-License-Identifier: Apache-2.0

/// The constants of format 1. Documentation/Formats/protected-file.md specifies it.
public enum ContainerFormat {
    public static let version: UInt16 = 1
    /// The bytes of content that are sealed together.
    public static let chunkSize = 65_536
    /// The longest content, in bytes: 256 TiB.
    public static let maxLength: UInt64 = 1 << 48
    /// The longest metadata, in bytes.
    public static let maxMetadataLength = 512

    static let magic = Array("LATCHKEY".utf8)
    /// The length of one of the two headers: a block of the storage device, so that an interrupted
    /// write never damages both.
    static let headerLength = 4096
    /// Where the slots begin.
    static let slotsOffset = 2 * headerLength
    /// The references in one node of the map.
    static let fanOut = chunkSize / ChunkReference.length
    /// The depth of a map for ``maxLength`` bytes.
    static let maxDepth: UInt8 = 3
    /// AES-GCM with random nonces: at most 2³² messages under one key (SP 800-38D, section 8.3). Half
    /// of them, because what a killed process has encrypted since its last commit is not counted.
    static let maxSeals: UInt64 = 1 << 31

    /// The number of chunks of a content.
    static func chunkCount(_ length: UInt64) -> UInt64 {
        length / UInt64(chunkSize) + (length % UInt64(chunkSize) == 0 ? 0 : 1)
    }

    /// The number of the last chunk of a content; nil if there is none.
    static func lastChunk(_ length: UInt64) -> UInt64? { length == 0 ? nil : (length - 1) / UInt64(chunkSize) }

    /// The length of one chunk of a content.
    static func chunkLength(_ chunk: UInt64, of length: UInt64) -> Int {
        let start = chunk * UInt64(chunkSize)
        return start >= length ? 0 : Int(min(UInt64(chunkSize), length - start))
    }

    /// The number of chunks that a map of this depth can hold.
    static func capacity(ofDepth depth: UInt8) -> UInt64 {
        (0..<depth).reduce(1) { capacity, _ in capacity * UInt64(fanOut) }
    }

    /// The depth of the map of a content: the smallest one that holds its chunks.
    static func depth(of length: UInt64) -> UInt8 {
        let chunks = chunkCount(length)
        return (0...maxDepth).first { capacity(ofDepth: $0) >= chunks } ?? maxDepth
    }
}
