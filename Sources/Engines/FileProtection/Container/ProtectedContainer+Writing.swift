// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

extension ProtectedContainer {
    /// Replaces the content at
    /// `offset`, and extends the file if necessary. The bytes between the former end and `offset` become zeros.
    public func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileProtectionError) {
        try changingState { (state) throws(FileProtectionError) in
            let (end, overflows) = offset.addingReportingOverflow(UInt64(bytes.count))
            guard !overflows, end <= ContainerFormat.maxLength else { throw .tooLarge }
            guard !bytes.isEmpty else { return }
            let before = state.length
            if end > before { try state.setLength(end) }
            do throws(FileProtectionError) {
                try state.write(bytes, at: offset)
            } catch {
                // Without space, the content before the write remains.
                if end > before {
                    try state.undoing { (state) throws(FileProtectionError) in try state.setLength(before) }
                }
                throw error
            }
        }
    }

    /// Appends to the content.
    ///
    /// - Returns: where the bytes begin.
    @discardableResult
    public func append(_ bytes: UnsafeRawBufferPointer) throws(FileProtectionError) -> UInt64 {
        let end = try length
        try write(bytes, at: end)
        return end
    }

    /// Cuts the content, or extends it with zeros. Zeros need no space.
    public func truncate(to length: UInt64) throws(FileProtectionError) {
        guard length <= ContainerFormat.maxLength else { throw .tooLarge }
        try changingState { (state) throws(FileProtectionError) in
            if length != state.length { try state.setLength(length) }
        }
    }

    /// Replaces the sealed metadata.
    public func setMetadata(_ metadata: [UInt8]) throws(FileProtectionError) {
        guard metadata.count <= ContainerFormat.maxMetadataLength else { throw .tooLarge }
        try changingState { (state) throws(FileProtectionError) in state.metadata = metadata }
    }

    func changingState(
        if isNeeded: (borrowing OpenState) -> Bool = { _ in true },
        _ body: (inout OpenState) throws(FileProtectionError) -> Void
    ) throws(FileProtectionError) {
        guard isWritable else { throw .readOnly }
        try withState { (state) throws(FileProtectionError) in
            guard !state.isInterrupted else { throw .interrupted }
            guard isNeeded(state) else { return }
            try state.findSlots()
            try body(&state)
        }
    }
}

extension ProtectedContainer.OpenState {
    var hasChanges: Bool {
        cache.hasDirtyChunks || length != stored.length || metadata != stored.metadata || hasChangedMap
    }

    /// Runs steps that must not stop halfway. If they fail, the handle refuses further changes.
    mutating func undoing(
        _ body: (inout ProtectedContainer.OpenState) throws(FileProtectionError) -> Void
    ) throws(FileProtectionError) {
        do throws(FileProtectionError) {
            try body(&self)
        } catch {
            isInterrupted = true
            throw error
        }
    }

    /// Marks the slots of the stored state, before the first change. The stored changes of a killed writer become
    /// durable first: slots of older states are reused from then on.
    mutating func findSlots() throws(FileProtectionError) {
        guard !knowsSlots else { return }
        try synchronize(withAttributes: false)
        let end = try storage.file.size
        var slots: [UInt32] = []
        try map.forEachReference(in: storage) { (reference) throws(FileProtectionError) in
            slots.append(reference.slot)
        }
        for slot in slots {
            guard layout.offset(ofSlot: slot) < end else { throw .damaged("it ends before slot \(slot)") }
            guard storage.allocator.mark(slot) else { throw .damaged("two chunks are in one slot") }
        }
        knowsSlots = true
    }

    /// Changes the length. The last chunk of the former length and the last chunk of the new one are sealed again,
    /// because the seal marks the last chunk.
    mutating func setLength(_ new: UInt64) throws(FileProtectionError) {
        try changeEnd()
        if new < length {
            if let last = layout.lastChunk(new), let buffer = try dirtyBuffer(last, ifStored: true) {
                Self.clear(buffer, from: layout.chunkLength(last, of: new))
            }
            cache.removeAll(from: layout.chunkCount(new))
        }
        let old = length
        try undoing { (state) throws(FileProtectionError) in
            try state.map.resize(from: old, to: new, in: &state.storage)
        }
        length = new
        hasChangedMap = true
    }

    /// Takes the last chunk into memory, so that it is sealed for the new length.
    private mutating func changeEnd() throws(FileProtectionError) {
        guard let last = layout.lastChunk(length) else { return }
        _ = try dirtyBuffer(last, ifStored: true)
    }

    private static func clear(_ buffer: ChunkBuffer, from start: Int) {
        buffer.withBytes { bytes in
            _ = UnsafeMutableRawBufferPointer(rebasing: bytes[start...]).initializeMemory(as: UInt8.self, repeating: 0)
        }
    }

    /// Writes within the present length.
    mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileProtectionError) {
        let size = layout.chunkSize
        var done = 0
        while done < bytes.count {
            let position = offset + UInt64(done)
            let (chunk, start) = (position / UInt64(size), Int(position % UInt64(size)))
            // The last chunk waits: its seal changes with the end.
            let whole = start == 0 ? min((bytes.count - done) / size, Int(clamping: wholeCount(from: chunk))) : 0
            let count = whole > 0 ? min(whole, storage.maxRun) * size : min(bytes.count - done, size - start)
            let part = UnsafeRawBufferPointer(rebasing: bytes[done..<done + count])
            if whole > 0 { try sealRun(part, from: chunk) } else { try write(part, to: chunk, from: start) }
            done += count
        }
    }

    /// How many chunks from `chunk` on are before the last one.
    private func wholeCount(from chunk: UInt64) -> UInt64 {
        guard let last = layout.lastChunk(length), last > chunk else { return 0 }
        return last - chunk
    }

    /// Seals whole chunks that were written at once.
    private mutating func sealRun(_ bytes: UnsafeRawBufferPointer, from first: UInt64) throws(FileProtectionError) {
        // The chunk before them gets the slot before theirs, because a write in order has filled it.
        if first > 0, cache.isDirty(first - 1) { try sealCached([first - 1]) }
        let size = layout.chunkSize
        let chunks = (0..<bytes.count / size).map { first + UInt64($0) }
        try seal(chunks) { (number, body) throws(FileProtectionError) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[number * size..<(number + 1) * size]))
        }
        for chunk in chunks { cache.remove(chunk) }
    }

    /// Writes within one chunk.
    private mutating func write(
        _ bytes: UnsafeRawBufferPointer, to chunk: UInt64, from start: Int
    ) throws(FileProtectionError) {
        let isWhole = start == 0 && bytes.count >= layout.chunkLength(chunk, of: length)
        guard let buffer = try isWhole ? emptyBuffer(chunk) : dirtyBuffer(chunk, ifStored: false) else { return }
        buffer.withBytes { target in
            UnsafeMutableRawBufferPointer(rebasing: target[start..<start + bytes.count]).copyMemory(from: bytes)
        }
    }

    /// Returns the content of a chunk in memory, where it can be changed.
    ///
    /// - Parameter ifStored: returns nil for a hole, and leaves it one.
    private mutating func dirtyBuffer(
        _ chunk: UInt64, ifStored: Bool
    ) throws(FileProtectionError) -> ChunkBuffer? {
        if let buffer = cache.buffer(of: chunk) {
            try makeRoom(for: chunk)
            cache.insert(chunk, buffer, isDirty: true)
            return buffer
        }
        let reference = try map.reference(to: chunk, in: storage)
        if reference.isHole { return ifStored ? nil : try emptyBuffer(chunk) }
        try makeRoom(for: chunk)
        let buffer = ChunkBuffer(layout.chunkSize)
        let count = layout.chunkLength(chunk, of: length)
        try buffer.withBytes { (bytes) throws(FileProtectionError) in
            try storage.read(
                reference, as: part(chunk), into: UnsafeMutableRawBufferPointer(rebasing: bytes.prefix(count)))
        }
        cache.insert(chunk, buffer, isDirty: true)
        return buffer
    }

    private mutating func emptyBuffer(_ chunk: UInt64) throws(FileProtectionError) -> ChunkBuffer {
        try makeRoom(for: chunk)
        let buffer = ChunkBuffer(layout.chunkSize)
        cache.remove(chunk)
        cache.insert(chunk, buffer, isDirty: true)
        return buffer
    }

    /// Seals changed chunks if there are too many.
    private mutating func makeRoom(for chunk: UInt64) throws(FileProtectionError) {
        guard !cache.isDirty(chunk) else { return }
        try sealCached(cache.surplus(except: layout.lastChunk(length)))
    }

    /// - Parameter chunks: changed ones, in their order.
    mutating func sealCached(_ chunks: [UInt64]) throws(FileProtectionError) {
        for start in stride(from: 0, to: chunks.count, by: storage.maxRun) {
            let run = Array(chunks[start...].prefix(storage.maxRun))
            let parts = run.compactMap { chunk in
                cache.buffer(of: chunk).map { (buffer: $0, count: layout.chunkLength(chunk, of: length)) }
            }
            try seal(run) { (number, body) throws(FileProtectionError) in
                let part = parts[number]
                try part.buffer.withBytes { (bytes) throws(FileProtectionError) in
                    try body(UnsafeRawBufferPointer(rebasing: bytes.prefix(part.count)))
                }
            }
            for chunk in run { cache.wasSealed(chunk) }
        }
    }

    /// - Parameters:
    ///   - chunks: at most ``SlotStorage/maxRun``.
    ///   - withPlaintext: passes the content of a chunk to its argument.
    private mutating func seal(
        _ chunks: [UInt64],
        _ withPlaintext: (Int, (UnsafeRawBufferPointer) throws(FileProtectionError) -> Void)
            throws(FileProtectionError) -> Void
    ) throws(FileProtectionError) {
        guard !chunks.isEmpty else { return }
        let parts = chunks.map { part($0) }
        let references = try storage.write(chunks.count, as: { parts[$0] }, withPlaintext: withPlaintext)
        hasChangedMap = true
        for (number, reference) in references.enumerated() {
            do throws(FileProtectionError) {
                try map.set(chunks[number], to: reference, in: &storage)
            } catch {
                for reference in references[number...] { storage.release(reference) }
                throw error
            }
        }
        if map.needsFlush { try map.flush(to: &storage) }
    }
}
