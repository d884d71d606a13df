// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// One state of the file, sealed by a header.
struct ContainerState: Hashable, Sendable {
    /// The length of the content, in bytes.
    var length: UInt64 = 0
    /// The root of the map: of depth 0, the only chunk.
    var root = ChunkReference.hole
    var depth: UInt8 = 0
    /// How often the file key has encrypted.
    var seals: UInt64 = 0
    /// Bytes of the program that has made the file.
    var metadata: [UInt8] = []

    var encoded: [UInt8] {
        var bytes = length.bigEndianBytes + [depth] + root.encoded
        bytes.append(bigEndian: seals)
        bytes.append(bigEndian: UInt16(metadata.count))
        return bytes + metadata
    }

    /// Decodes the output of ``encoded``; nil for other bytes.
    ///
    /// - Parameter layout: of the header that seals it.
    init?(decoding bytes: [UInt8], _ layout: ContainerLayout) {
        var reader = FieldReader(bytes)
        guard let length: UInt64 = reader.number(), let depth: UInt8 = reader.number(),
            let root = ChunkReference(&reader), let seals: UInt64 = reader.number(),
            let metadataLength: UInt16 = reader.number(), let metadata = reader.bytes(Int(metadataLength)),
            reader.remaining == 0, length <= ContainerFormat.maxLength,
            metadata.count <= ContainerFormat.maxMetadataLength, depth == layout.depth(of: length),
            length > 0 || root.isHole
        else { return nil }
        self.length = length
        self.depth = depth
        self.root = root
        self.seals = seals
        self.metadata = Array(metadata)
    }

    init(metadata: [UInt8] = []) { self.metadata = metadata }
}
