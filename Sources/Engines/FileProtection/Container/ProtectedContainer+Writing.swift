// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

extension ProtectedContainer {
    /// Replaces the content at `offset`, and extends the file if necessary. What lies between the
    /// former end and `offset` becomes zeros.
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
                // Without space, what was there before remains.
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

    /// Cuts the content, or extends it with zeros, which need no space.
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

    /// Stores what was changed: after a crash, the file has all of it or nothing. Afterwards both headers
    /// are equal, also if an earlier change was interrupted.
    ///
    /// - Parameter durably: whether it is on the storage device when this returns. Only a new file can do
    ///   without, until its first durable commit: it has no former state that has to stay. A change of
    ///   another file is always durable.
    public func commit(durably: Bool = true) throws(FileProtectionError) {
        try changingState(if: { !$0.isSettled || durably && $0.isDraft }) { (state) throws(FileProtectionError) in
            guard !state.hasChanges else { return try state.commit(state.header.key, durably: durably) }
            try state.isDraft ? state.makeDraftDurable() : state.repeatHeader()
        }
    }

    /// Stores the file key as another record wraps it, together with what was changed. The content is
    /// not encrypted again. Nothing of the former record is left in the file.
    ///
    /// - Parameters:
    ///   - key: the record of the same file and the same key.
    ///   - cipher: the cipher for it.
    /// - Throws: ``FileProtectionError/wrongKey`` if it is not the same key.
    public func rewrap(_ key: FileKeyRecord, _ cipher: any ContainerCipher) throws(FileProtectionError) {
        try changingState { (state) throws(FileProtectionError) in
            guard key.binding.file == state.fileIdentifier else { throw .wrongKey }
            try state.requireSameKey(cipher)
            try state.commit(key, durably: true)
            state.use(cipher)
        }
    }

    private func changingState(
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
        !cache.dirtyChunks.isEmpty || length != stored.length || metadata != stored.metadata || hasChangedMap
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

    /// Marks the slots of the stored state, before the first change. What a killed writer has stored
    /// becomes durable first: slots of older states are reused from then on.
    mutating func findSlots() throws(FileProtectionError) {
        guard !knowsSlots else { return }
        try storage.file.synchronize()
        let end = try storage.file.size
        var slots: [UInt32] = []
        try map.forEachReference(in: storage) { (reference) throws(FileProtectionError) in
            slots.append(reference.slot)
        }
        for slot in slots {
            guard SlotStorage.offset(of: slot) < end else { throw .damaged("it ends before slot \(slot)") }
            guard storage.allocator.mark(slot) else { throw .damaged("two chunks are in one slot") }
        }
        knowsSlots = true
    }

    /// Changes the length. The last chunk of the former length and that of the new one are sealed
    /// again, because the seal says which one is the last.
    mutating func setLength(_ new: UInt64) throws(FileProtectionError) {
        try changeEnd()
        if new < length {
            if let last = ContainerFormat.lastChunk(new), let buffer = try dirtyBuffer(last, ifStored: true) {
                Self.clear(buffer, from: ContainerFormat.chunkLength(last, of: new))
            }
            cache.removeAll(from: ContainerFormat.chunkCount(new))
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
        guard let last = ContainerFormat.lastChunk(length) else { return }
        _ = try dirtyBuffer(last, ifStored: true)
    }

    private static func clear(_ buffer: ChunkBuffer, from start: Int) {
        buffer.withBytes { bytes in
            _ = UnsafeMutableRawBufferPointer(rebasing: bytes[start...]).initializeMemory(as: UInt8.self, repeating: 0)
        }
    }

    /// Writes within the present length.
    mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileProtectionError) {
        var done = 0
        while done < bytes.count {
            let position = offset + UInt64(done)
            let start = Int(position % UInt64(ContainerFormat.chunkSize))
            let count = min(bytes.count - done, ContainerFormat.chunkSize - start)
            try write(
                UnsafeRawBufferPointer(rebasing: bytes[done..<done + count]),
                to: position / UInt64(ContainerFormat.chunkSize), from: start)
            done += count
        }
    }

    /// Writes within one chunk.
    mutating func write(
        _ bytes: UnsafeRawBufferPointer, to chunk: UInt64, from start: Int
    ) throws(FileProtectionError) {
        let isLast = chunk == ContainerFormat.lastChunk(length)
        if bytes.count == ContainerFormat.chunkSize, !isLast {
            try seal(bytes, as: chunk)
            cache.remove(chunk)
            return
        }
        let isWhole = start == 0 && bytes.count >= ContainerFormat.chunkLength(chunk, of: length)
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
        let buffer = ChunkBuffer()
        let count = ContainerFormat.chunkLength(chunk, of: length)
        try buffer.withBytes { (bytes) throws(FileProtectionError) in
            try storage.read(
                reference, as: part(chunk), into: UnsafeMutableRawBufferPointer(rebasing: bytes.prefix(count)))
        }
        cache.insert(chunk, buffer, isDirty: true)
        return buffer
    }

    private mutating func emptyBuffer(_ chunk: UInt64) throws(FileProtectionError) -> ChunkBuffer {
        try makeRoom(for: chunk)
        let buffer = ChunkBuffer()
        cache.remove(chunk)
        cache.insert(chunk, buffer, isDirty: true)
        return buffer
    }

    /// Seals a changed chunk if there are too many.
    private mutating func makeRoom(for chunk: UInt64) throws(FileProtectionError) {
        guard !cache.isDirty(chunk), let surplus = cache.surplus(except: ContainerFormat.lastChunk(length)) else {
            return
        }
        try sealCached(surplus)
    }

    private mutating func sealCached(_ chunk: UInt64) throws(FileProtectionError) {
        guard let buffer = cache.buffer(of: chunk) else { return }
        let count = ContainerFormat.chunkLength(chunk, of: length)
        try buffer.withBytes { (bytes) throws(FileProtectionError) in
            try seal(UnsafeRawBufferPointer(rebasing: bytes.prefix(count)), as: chunk)
        }
        cache.wasSealed(chunk)
    }

    private mutating func seal(_ bytes: UnsafeRawBufferPointer, as chunk: UInt64) throws(FileProtectionError) {
        let reference = try storage.write(bytes, as: part(chunk))
        do throws(FileProtectionError) {
            try map.set(chunk, to: reference, in: &storage)
        } catch {
            storage.release(reference)
            throw error
        }
        hasChangedMap = true
        if map.needsFlush { try map.flush(to: &storage) }
    }

    /// Throws unless what this file's key encrypts opens with another cipher.
    func requireSameKey(_ other: any ContainerCipher) throws(FileProtectionError) {
        let probe = try ContainerHeader(sealing: stored, header.sequence, header.key, with: cipher)
        guard try probe.state(with: other) == stored else { throw .wrongKey }
    }

    /// Stores the present content: chunks and nodes in free slots, then a header in the place of the one
    /// that is not on the storage device for certain, then in the other place.
    mutating func commit(_ key: FileKeyRecord, durably: Bool) throws(FileProtectionError) {
        let (sequence, overflows) = header.sequence.addingReportingOverflow(1)
        guard !overflows else { throw .damaged("its sequence number is the highest one") }
        for chunk in cache.dirtyChunks { try sealCached(chunk) }
        try map.flush(to: &storage)
        if !isDraft { try storage.file.synchronize() }
        try storage.countSeal()
        var next = ContainerState(metadata: metadata)
        next.length = length
        next.root = map.root
        next.depth = map.depth
        next.seals = storage.seals
        let fresh = try ContainerHeader(sealing: next, sequence, key, with: cipher)
        // From the first byte of a header on, the stored state may be the new one.
        try undoing { (state) throws(FileProtectionError) in
            if state.isDraft {
                try state.storeDraft(fresh, durably: durably)
            } else {
                try state.store(fresh)
            }
            state.header = fresh
            state.stored = next
            state.headers = try ProtectedContainer.headerBytes(state.storage.file)
            state.hasChangedMap = false
            state.storage.allocator.commit()
            // A file that is too long is not wrong.
            try? state.storage.file.cut(
                to: UInt64(ContainerFormat.slotsOffset)
                    + state.storage.allocator.end * UInt64(ContainerFormat.chunkSize))
        }
    }

    /// Stores the header that counts in the place of the other one as well.
    mutating func repeatHeader() throws(FileProtectionError) {
        try undoing { (state) throws(FileProtectionError) in
            // The writer of the header that counts may have ended before it was durable.
            try state.storage.file.synchronize()
            try state.write(state.header.encoded, toHeader: 1 - state.durableIndex)
            try state.storage.file.synchronize()
            state.headers = try ProtectedContainer.headerBytes(state.storage.file)
        }
    }

    private mutating func store(_ fresh: ContainerHeader) throws(FileProtectionError) {
        let bytes = fresh.encoded
        try write(bytes, toHeader: 1 - durableIndex)
        try storage.file.synchronize()
        durableIndex = 1 - durableIndex
        // The commit is complete. An equal second header leaves no older state that could be taken for it.
        try write(bytes, toHeader: 1 - durableIndex)
        try storage.file.synchronize()
    }

    /// Stores both headers at once: no former state has to stay.
    private mutating func storeDraft(_ fresh: ContainerHeader, durably: Bool) throws(FileProtectionError) {
        try ProtectedContainer.write(fresh.encoded + fresh.encoded, to: storage.file, at: 0)
        if durably { try makeDraftDurable() }
    }

    mutating func makeDraftDurable() throws(FileProtectionError) {
        try storage.file.synchronize()
        isDraft = false
    }

    private func write(_ bytes: [UInt8], toHeader index: Int) throws(FileProtectionError) {
        try ProtectedContainer.write(bytes, to: storage.file, at: UInt64(index * ContainerFormat.headerLength))
    }
}
