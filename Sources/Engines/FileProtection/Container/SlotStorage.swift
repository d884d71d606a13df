// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// The slots of one file. Each holds a sealed chunk or node.
struct SlotStorage: ~Copyable {
    let file: any ContainerFile
    let layout: ContainerLayout
    var cipher: any ContainerCipher
    var allocator = SlotAllocator()
    /// How often the file key has encrypted.
    var seals: UInt64
    /// Ciphertext of one slot; of ``maxRun`` slots as soon as a run was written.
    private var buffer: UnsafeMutableRawBufferPointer

    init(_ file: any ContainerFile, _ layout: ContainerLayout, _ cipher: any ContainerCipher, seals: UInt64) {
        self.file = file
        self.layout = layout
        self.cipher = cipher
        self.seals = seals
        buffer = .allocate(byteCount: layout.chunkSize, alignment: 4096)
    }

    deinit { buffer.deallocate() }

    /// How many slots are read or written at once: 256 KiB.
    var maxRun: Int { (256 << 10) / layout.chunkSize }

    /// Fills `plaintext` with the decrypted bytes of a slot.
    ///
    /// - Throws: ``FileProtectionError/damaged(_:)``.
    borrowing func read(
        _ reference: ChunkReference, as part: ContainerPart, into plaintext: UnsafeMutableRawBufferPointer
    ) throws(FileProtectionError) {
        let target = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(plaintext.count))
        guard target.count == plaintext.count,
            try file.read(into: target, at: layout.offset(ofSlot: reference.slot)) == target.count
        else { throw .damaged("it ends before \(part)") }
        try open(UnsafeRawBufferPointer(target), reference, part, into: plaintext)
    }

    private borrowing func open(
        _ ciphertext: UnsafeRawBufferPointer, _ reference: ChunkReference, _ part: ContainerPart,
        into plaintext: UnsafeMutableRawBufferPointer
    ) throws(FileProtectionError) {
        guard
            try cipher.open(
                ciphertext, reference.seal, authenticating: part.authenticated, into: plaintext)
        else { throw .damaged("\(part) was changed") }
    }

    /// Fills `plaintext` with the decrypted bytes of slots that follow each other, whole ones except the last.
    ///
    /// - Throws: ``FileProtectionError/damaged(_:)``.
    borrowing func read(
        _ references: [ChunkReference], into plaintext: UnsafeMutableRawBufferPointer, as part: (Int) -> ContainerPart
    ) throws(FileProtectionError) {
        guard let first = references.first else { return }
        // Decrypted in place: another buffer would leave the processor's cache.
        let got = try file.read(into: plaintext, at: layout.offset(ofSlot: first.slot))
        for (number, reference) in references.enumerated() {
            let start = number * layout.chunkSize
            let end = min(start + layout.chunkSize, plaintext.count)
            guard end <= got else { throw .damaged("it ends before \(part(number))") }
            let target = UnsafeMutableRawBufferPointer(rebasing: plaintext[start..<end])
            try open(UnsafeRawBufferPointer(target), reference, part(number), into: target)
        }
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
            try file.write(UnsafeRawBufferPointer(target), at: layout.offset(ofSlot: slot))
            return ChunkReference(slot: slot, seal: seal)
        } catch {
            allocator.release(slot)
            throw error
        }
    }

    /// Seals parts into free slots. Parts with slots that follow each other are written at once.
    ///
    /// - Parameters:
    ///   - count: at most ``maxRun``.
    ///   - withPlaintext: passes the plaintext of a part to its argument.
    mutating func write(
        _ count: Int, as part: (Int) -> ContainerPart,
        withPlaintext: (Int, (UnsafeRawBufferPointer) throws(FileProtectionError) -> Void)
            throws(FileProtectionError) -> Void
    ) throws(FileProtectionError) -> [ChunkReference] {
        if buffer.count < maxRun * layout.chunkSize {
            buffer.deallocate()
            buffer = .allocate(byteCount: maxRun * layout.chunkSize, alignment: 4096)
        }
        var references: [ChunkReference] = []
        do throws(FileProtectionError) {
            // The ciphertext that is not written yet, and its first slot.
            var (filled, first) = (0, UInt32(0))
            for number in 0..<count {
                guard let slot = allocator.allocate() else { throw .tooLarge }
                references.append(ChunkReference(slot: slot, seal: .none))
                if filled > 0, slot != references[number - 1].slot + 1 || filled % layout.chunkSize != 0 {
                    try write(filled, from: first)
                    filled = 0
                }
                if filled == 0 { first = slot }
                try countSeal()
                let (cipher, part, start) = (cipher, part(number), filled)
                let target = UnsafeMutableRawBufferPointer(rebasing: buffer[start...])
                var written = 0
                try withPlaintext(number) { (plaintext) throws(FileProtectionError) in
                    references[number].seal = try cipher.seal(
                        plaintext, authenticating: part.authenticated,
                        into: UnsafeMutableRawBufferPointer(rebasing: target.prefix(plaintext.count)))
                    written = plaintext.count
                }
                filled += written
            }
            try write(filled, from: first)
            return references
        } catch {
            for reference in references { allocator.release(reference.slot) }
            throw error
        }
    }

    private borrowing func write(_ count: Int, from slot: UInt32) throws(FileProtectionError) {
        guard count > 0 else { return }
        try file.write(
            UnsafeRawBufferPointer(rebasing: buffer.prefix(count)), at: layout.offset(ofSlot: slot))
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
