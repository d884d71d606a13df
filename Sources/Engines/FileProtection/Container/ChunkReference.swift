// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// The slot of a sealed chunk or node, and the proof that it is the last one written there: the nonce and the tag of
/// its encryption.
struct ChunkReference: Hashable, Sendable {
    /// The number of the slot.
    var slot: UInt32
    var seal: ContainerSeal

    /// Stands for content that was never written and reads as zeros.
    static let hole = ChunkReference(slot: .max, seal: .none)

    var isHole: Bool { slot == .max }

    /// The length of an encoded reference.
    static let length = 32
}

/// The nonce and the tag of an encryption with AES-256-GCM, in the order of their bytes.
public struct ContainerSeal: Hashable, Sendable {
    // Numbers and not arrays, because a node has many of them.
    private var nonceHigh: UInt32 = 0
    private var nonceLow: UInt64 = 0
    private var tagHigh: UInt64 = 0
    private var tagLow: UInt64 = 0

    public static let nonceLength = 12
    public static let tagLength = 16
    /// The length of an encoded seal: the nonce, then the tag.
    static let length = nonceLength + tagLength

    fileprivate init() {}

    /// Of a hole.
    static let none = ContainerSeal()

    /// - Parameter bytes: the nonce, then the tag.
    /// - Returns: nil for another number of bytes than ``length``.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.length else { return nil }
        self = Array(bytes).withUnsafeBytes { ContainerSeal($0, at: 0) }
    }

    fileprivate init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        nonceHigh = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        nonceLow = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt64.self)
        tagHigh = bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt64.self)
        tagLow = bytes.loadUnaligned(fromByteOffset: offset + 20, as: UInt64.self)
    }

    fileprivate func store(to bytes: UnsafeMutableRawBufferPointer, at offset: Int) {
        bytes.storeBytes(of: nonceHigh, toByteOffset: offset, as: UInt32.self)
        bytes.storeBytes(of: nonceLow, toByteOffset: offset + 4, as: UInt64.self)
        bytes.storeBytes(of: tagHigh, toByteOffset: offset + 12, as: UInt64.self)
        bytes.storeBytes(of: tagLow, toByteOffset: offset + 20, as: UInt64.self)
    }

    /// The nonce, then the tag.
    public var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.length) { buffer, count in
            store(to: UnsafeMutableRawBufferPointer(buffer), at: 0)
            count = Self.length
        }
    }
    public var nonce: [UInt8] { Array(bytes.prefix(Self.nonceLength)) }
    public var tag: [UInt8] { Array(bytes.suffix(Self.tagLength)) }
}

// MARK: Coding

extension ChunkReference {
    /// The slot, the nonce and the tag.
    var encoded: [UInt8] { Self.encode([self]) }

    /// Reads a reference; nil at the end, or for a hole with a seal.
    init?(_ reader: inout FieldReader<ArraySlice<UInt8>>) {
        guard let bytes = reader.bytes(Self.length), let decoded = Self.decode(Array(bytes))?.first else { return nil }
        self = decoded
    }

    static func encode(_ references: [ChunkReference]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: references.count * length) { buffer, count in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            for (number, reference) in references.enumerated() {
                bytes.storeBytes(of: reference.slot.bigEndian, toByteOffset: number * length, as: UInt32.self)
                reference.seal.store(to: bytes, at: number * length + slotLength)
            }
            count = references.count * length
        }
    }

    /// Decodes references that take up all bytes; nil for anything that ``encode(_:)`` does not write.
    static func decode(_ bytes: [UInt8]) -> [ChunkReference]? {
        guard bytes.count.isMultiple(of: length) else { return nil }
        return bytes.withUnsafeBytes { bytes in
            var references: [ChunkReference] = []
            references.reserveCapacity(bytes.count / length)
            for offset in stride(from: 0, to: bytes.count, by: length) {
                let slot = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
                let reference = ChunkReference(slot: slot, seal: ContainerSeal(bytes, at: offset + slotLength))
                guard !reference.isHole || reference.seal == .none else { return nil }
                references.append(reference)
            }
            return references
        }
    }

    private static let slotLength = 4
}
