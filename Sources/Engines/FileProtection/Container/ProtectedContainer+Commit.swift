// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import LinuxSystem

extension ProtectedContainer {
    /// Stores the changes: after a crash, the file has all of them or nothing. Afterwards both headers are equal, and
    /// on the storage device, also if an earlier change was interrupted.
    ///
    /// - Parameter durably: whether it is on the storage device when this returns. Only a new file can do
    ///   without, until its first durable commit: it has no former state that has to stay. A change of
    ///   another file is always durable.
    public func commit(durably: Bool = true) throws(FileProtectionError) {
        try finish()
        try changingState(if: { !$0.isSettled || durably && $0.isDraft }) { (state) throws(FileProtectionError) in
            guard !state.hasChanges else {
                return try state.commit(state.header.key, durably ? .complete : .stored)
            }
            try state.isDraft ? state.makeDraftDurable() : state.repeatHeader()
        }
    }

    /// Stores the changes, and returns when they are on the storage device, as fsync(2) does: also the changes that an
    /// earlier handle has stored. The second header is written, but on the storage device only after the next
    /// ``synchronize(withAttributes:setTimes:)``, ``commit(durably:)`` or ``finish()``.
    ///
    /// - Parameters:
    ///   - withAttributes: whether the times of the file are on the storage device as well; if not, it is as
    ///     with fdatasync(2).
    ///   - setTimes: gives the file the times that it should have. Called before they become durable, and again
    ///     when something was written after it.
    public func synchronize(
        withAttributes: Bool = true, setTimes: () -> Void = {}
    ) throws(FileProtectionError) {
        var isCommitted = false
        try changingState(if: { $0.hasChanges }) { (state) throws(FileProtectionError) in
            try state.commit(state.header.key, .durable(withAttributes: withAttributes), setTimes)
            isCommitted = true
        }
        guard !isCommitted else { return }
        try changingState(if: { !$0.isSettled && !$0.awaitsSecondHeader }) { (state) throws(FileProtectionError) in
            try state.repeatHeader()
        }
        setTimes()
        try withState { (state) throws(FileProtectionError) in
            guard !state.isInterrupted else { throw .interrupted }
            try state.synchronize(withAttributes: withAttributes)
        }
    }

    /// Makes the second header durable, if a synchronization has left that. Needs no key; changes that were
    /// not committed stay so.
    public func finish() throws(FileProtectionError) {
        let outcome: Result<Void, FileProtectionError> = state.withLock { state in
            Result { () throws(FileProtectionError) in
                // A commit does it as well.
                guard state.awaitsSecondHeader, !state.isClosed, !state.isInterrupted, !state.hasChanges else { return }
                try state.synchronize(withAttributes: false)
                state.cut(slack: 0)
            }
        }
        try outcome.get()
    }

    /// Stores the file key as another record wraps it, together with the pending changes. The content is not encrypted
    /// again. Nothing of the former record is left in the file.
    ///
    /// - Parameters:
    ///   - key: the record of the same file and the same key.
    ///   - cipher: the cipher for it.
    /// - Throws: ``FileProtectionError/wrongKey`` if it is not the same key.
    public func rewrap(_ key: FileKeyRecord, _ cipher: any ContainerCipher) throws(FileProtectionError) {
        try changingState { (state) throws(FileProtectionError) in
            guard key.binding.file == state.fileIdentifier else { throw .wrongKey }
            try state.requireSameKey(cipher)
            try state.commit(key, .complete)
            state.use(cipher)
        }
    }
}

/// The parts of a commit that are on the storage device when it returns.
enum CommitGoal: Equatable {
    /// Of a draft nothing for certain; of another file everything.
    case stored
    /// The change, but not the second header.
    case durable(withAttributes: Bool)
    case complete

    /// Whether the second header of a file that is no draft becomes durable as well.
    var isComplete: Bool { self == .stored || self == .complete }

    /// Whether the times of the file become durable as well.
    var includesAttributes: Bool { self == .durable(withAttributes: true) }
}

extension ProtectedContainer.OpenState {
    /// Throws unless another cipher opens data that this file's key encrypts.
    func requireSameKey(_ other: any ContainerCipher) throws(FileProtectionError) {
        let probe = try ContainerHeader(sealing: stored, layout, header.sequence, header.key, with: cipher)
        guard try probe.state(with: other) == stored else { throw .wrongKey }
    }

    /// Stores the present content: chunks and nodes in free slots, then a header in the place of the one
    /// that is not on the storage device for certain, then in the other place.
    ///
    /// - Parameter setTimes: see ``ProtectedContainer/synchronize(withAttributes:setTimes:)``.
    mutating func commit(
        _ key: FileKeyRecord, _ goal: CommitGoal, _ setTimes: () -> Void = {}
    ) throws(FileProtectionError) {
        let (sequence, overflows) = header.sequence.addingReportingOverflow(1)
        guard !overflows else { throw .damaged("its sequence number is the highest one") }
        try sealCached(cache.dirtyChunks)
        try map.flush(to: &storage)
        // With it, the rest of the last commit.
        if !isDraft { try synchronize(withAttributes: false) }
        try storage.countSeal()
        var next = ContainerState(metadata: metadata)
        next.length = length
        next.root = map.root
        next.depth = map.depth
        next.seals = storage.seals
        let fresh = try ContainerHeader(sealing: next, layout, sequence, key, with: cipher)
        // From the first byte of a header on, the stored state may be the new one.
        try undoing { (state) throws(FileProtectionError) in
            if state.isDraft {
                try state.storeDraft(fresh, goal, setTimes)
            } else {
                try state.store(fresh, goal, setTimes)
            }
            state.header = fresh
            state.stored = next
            state.headers = try ProtectedContainer.headerBytes(state.storage.file)
            state.hasChangedMap = false
            state.storage.allocator.commit()
            // A program that synchronizes often would get slots back at once, at the cost of the file system's.
            state.cut(slack: goal.isComplete ? 0 : Self.keptSlack)
            setTimes()
        }
    }

    /// How much of the end of a file stays, although it is not in use, while the file is synchronized.
    private static let keptSlack: UInt64 = 1 << 20

    /// Cuts the file after the last slot in use, if more than `slack` bytes follow it. A file that is too long is not
    /// wrong.
    mutating func cut(slack: UInt64) {
        guard knowsSlots else { return }
        let end = UInt64(ContainerFormat.slotsOffset) + storage.allocator.end * UInt64(layout.chunkSize)
        guard let size = try? storage.file.size, size > end, size - end > slack else { return }
        try? storage.file.cut(to: end)
    }

    mutating func synchronize(withAttributes: Bool) throws(FileProtectionError) {
        try undoing { (state) throws(FileProtectionError) in
            try state.storage.file.synchronize(withAttributes: withAttributes)
        }
        awaitsSecondHeader = false
        isDraft = false
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

    private mutating func store(
        _ fresh: ContainerHeader, _ goal: CommitGoal, _ setTimes: () -> Void
    ) throws(FileProtectionError) {
        let bytes = fresh.encoded
        try write(bytes, toHeader: 1 - durableIndex)
        setTimes()
        try storage.file.synchronize(withAttributes: goal.includesAttributes)
        durableIndex = 1 - durableIndex
        // The change is durable. An equal second header leaves no older state that could be taken for it.
        try write(bytes, toHeader: 1 - durableIndex)
        awaitsSecondHeader = true
        if goal.isComplete { try synchronize(withAttributes: false) }
    }

    /// Stores both headers at once: no former state has to stay.
    private mutating func storeDraft(
        _ fresh: ContainerHeader, _ goal: CommitGoal, _ setTimes: () -> Void
    ) throws(FileProtectionError) {
        try ProtectedContainer.write(fresh.encoded + fresh.encoded, to: storage.file, at: 0)
        guard goal != .stored else { return }
        setTimes()
        try synchronize(withAttributes: goal.includesAttributes)
    }

    mutating func makeDraftDurable() throws(FileProtectionError) { try synchronize(withAttributes: false) }

    private func write(_ bytes: [UInt8], toHeader index: Int) throws(FileProtectionError) {
        try ProtectedContainer.write(bytes, to: storage.file, at: UInt64(index * ContainerFormat.headerLength))
    }
}
