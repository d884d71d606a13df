// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The slots of one file, in which chunks and nodes are sealed.
struct SlotStorage: ~Copyable {
    let file: any ContainerFile
    var cipher: any ContainerCipher
    var allocator = SlotAllocator()
    /// How often the file key has encrypted.
    var seals: UInt64
    /// Ciphertext.
    private let buffer: UnsafeMutableRawBufferPointer

    init(_ file: any ContainerFile, _ cipher: any ContainerCipher, seals: UInt64) {
        self.file = file
        self.cipher = cipher
        self.seals = seals
        buffer = .allocate(byteCount: ContainerFormat.chunkSize, alignment: 4096)
    }

    deinit { buffer.deallocate() }

    static func offset(of slot: UInt32) -> UInt64 {
        UInt64(ContainerFormat.slotsOffset) + UInt64(slot) * UInt64(ContainerFormat.chunkSize)
    }

    /// Fills `plaintext` with what is sealed in a slot.
    ///
    /// - Throws: ``FileProtectionError/damaged(_:)``.
    borrowing func read(
        _ reference: ChunkReference, as part: ContainerPart, into plaintext: UnsafeMutableRawBufferPointer
    ) throws(FileProtectionError) {
        let target = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(plaintext.count))
        guard target.count == plaintext.count,
            try file.read(into: target, at: Self.offset(of: reference.slot)) == target.count
        else { throw .damaged("it ends before \(part)") }
        guard
            try cipher.open(
                UnsafeRawBufferPointer(target), reference.seal, authenticating: part.authenticated, into: plaintext)
        else { throw .damaged("\(part) is not what was written") }
    }

    /// Seals into a free slot.
    mutating func write(
        _ plaintext: UnsafeRawBufferPointer, as part: ContainerPart
    ) throws(FileProtectionError) -> ChunkReference {
        guard let slot = allocator.allocate() else { throw .tooLarge }
        do throws(FileProtectionError) {
            try countSeal()
            let target = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(plaintext.count))
            let seal = try cipher.seal(plaintext, authenticating: part.authenticated, into: target)
            try file.write(UnsafeRawBufferPointer(target), at: Self.offset(of: slot))
            return ChunkReference(slot: slot, seal: seal)
        } catch {
            allocator.release(slot)
            throw error
        }
    }

    mutating func release(_ reference: ChunkReference) {
        guard !reference.isHole else { return }
        allocator.release(reference.slot)
    }

    mutating func countSeal() throws(FileProtectionError) {
        guard seals < ContainerFormat.maxSeals else { throw .keyExhausted }
        seals += 1
    }
}

/// A chunk or a node of one file, as its seal authenticates it.
struct ContainerPart: CustomStringConvertible {
    enum Kind {
        case chunk(UInt64, isLast: Bool)
        case node(level: UInt8, index: UInt64)
    }

    let file: [UInt8]
    let kind: Kind

    /// A chunk: `"chunk" ‖ file ‖ index ‖ last`; a node: `"node" ‖ file ‖ level ‖ index`.
    var authenticated: [UInt8] {
        switch kind {
        case .chunk(let index, let isLast):
            Array("chunk".utf8) + file + index.bigEndianBytes + [isLast ? 1 : 0]
        case .node(let level, let index):
            Array("node".utf8) + file + [level] + index.bigEndianBytes
        }
    }

    var description: String {
        switch kind {
        case .chunk(let index, _): "chunk \(index)"
        case .node(let level, let index): "node \(index) of level \(level)"
        }
    }
}
