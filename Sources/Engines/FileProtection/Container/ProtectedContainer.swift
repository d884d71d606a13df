// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
public import LinuxSystem

/// An open protected file: random access to its content, and atomic changes of it.
///
/// What is written is stored by ``commit()``: after a crash, the file has the content of the last
/// commit. One handle at a time may write; any number may read, and see each commit. Safe to use from
/// several threads.
///
/// Format: Documentation/Formats/protected-file.md.
public final class ProtectedContainer: Sendable {
    let file: any ContainerFile
    public let isWritable: Bool
    let state: SystemMutex<OpenState>
    /// Returns the cipher for the key that the file names.
    private let provider: CipherProvider

    public typealias CipherProvider = @Sendable (FileKeyRecord) throws(FileProtectionError) -> any ContainerCipher

    struct OpenState: ~Copyable {
        /// Both headers as they were read last.
        var headers: [UInt8]
        var header: ContainerHeader
        var cipher: any ContainerCipher
        /// Which of the two headers is on the storage device for certain: 0 or 1.
        var durableIndex: Int
        /// The stored state.
        var stored: ContainerState
        var length: UInt64
        var metadata: [UInt8]
        var map: ChunkMap
        var cache: ChunkCache
        var storage: SlotStorage
        /// Whether the slots of the stored state are marked.
        var knowsSlots = false
        /// Whether chunks were sealed, or the length was changed, since the last commit.
        var hasChangedMap = false
        /// Whether this is a new file of which nothing is on the storage device for certain.
        var isDraft = false
        /// Whether a change failed halfway.
        var isInterrupted = false
        var isClosed = false

        var fileIdentifier: [UInt8] { header.key.binding.file }

        /// Whether a commit has nothing to do, except to make a draft durable.
        var isSettled: Bool {
            !hasChanges && headers.count == ContainerFormat.slotsOffset
                && headers.prefix(ContainerFormat.headerLength).hasBytes(
                    of: headers.suffix(ContainerFormat.headerLength))
        }
    }

    /// The chunks that a handle keeps decrypted unless something else is requested: 4 MiB.
    public static let defaultCacheCount = 64

    init(
        _ file: any ContainerFile, _ found: FoundHeader, isWritable: Bool, cacheCount: Int,
        provider: @escaping CipherProvider
    ) {
        self.file = file
        self.isWritable = isWritable
        self.provider = provider
        state = SystemMutex(
            OpenState(
                headers: found.bytes, header: found.header, cipher: found.cipher, durableIndex: found.index,
                stored: found.state, length: found.state.length, metadata: found.state.metadata, map: found.map,
                cache: ChunkCache(maxCount: cacheCount),
                storage: SlotStorage(file, found.cipher, seals: found.state.seals)))
    }

    // MARK: Opening

    /// Opens a protected file.
    ///
    /// - Parameters:
    ///   - descriptor: opened for reading, and for writing if `isWritable`.
    ///   - cacheCount: the chunks that are kept decrypted.
    ///   - cipher: returns the cipher for the key that the file names.
    /// - Throws: ``FileProtectionError/inUse`` if another handle writes.
    public convenience init(
        opening descriptor: consuming OwnedDescriptor, path: String, isWritable: Bool,
        cacheCount: Int = defaultCacheCount, cipher: @escaping CipherProvider
    ) throws(FileProtectionError) {
        try self.init(
            opening: try OpenContainerFile(descriptor, path: path), isWritable: isWritable, cacheCount: cacheCount,
            cipher: cipher)
    }

    convenience init(
        opening file: any ContainerFile, isWritable: Bool, cacheCount: Int = defaultCacheCount,
        cipher: @escaping CipherProvider
    ) throws(FileProtectionError) {
        if isWritable { try file.lock() }
        let found = try Self.whole(file) { (bytes) throws(FileProtectionError) in
            try FoundHeader(bytes, cipher: cipher)
        }
        self.init(file, found, isWritable: isWritable, cacheCount: cacheCount, provider: cipher)
    }

    /// Calls `body` with both headers, again if another handle writes them meanwhile.
    private static func whole<Value>(
        _ file: any ContainerFile, _ body: ([UInt8]) throws(FileProtectionError) -> Value
    ) throws(FileProtectionError) -> Value {
        var tries = 0
        while true {
            tries += 1
            let bytes = try headerBytes(file)
            do throws(FileProtectionError) {
                return try body(bytes)
            } catch {
                guard error.isOfOneMoment, tries < maxTries, try headerBytes(file) != bytes else { throw error }
            }
        }
    }

    /// Makes an empty file a protected one, with no content.
    ///
    /// - Parameter metadata: at most ``ContainerFormat/maxMetadataLength`` bytes, which are sealed.
    public convenience init(
        creating descriptor: consuming OwnedDescriptor, path: String,
        _ key: FileKeyRecord, _ cipher: any ContainerCipher,
        metadata: [UInt8] = [], cacheCount: Int = defaultCacheCount
    ) throws(FileProtectionError) {
        try self.init(
            creating: try OpenContainerFile(descriptor, path: path), key, cipher, metadata: metadata,
            cacheCount: cacheCount)
    }

    convenience init(
        creating file: any ContainerFile, _ key: FileKeyRecord, _ cipher: any ContainerCipher, metadata: [UInt8] = [],
        cacheCount: Int = defaultCacheCount
    ) throws(FileProtectionError) {
        guard metadata.count <= ContainerFormat.maxMetadataLength else { throw .tooLarge }
        try file.lock()
        guard try file.size == 0 else { throw .damaged("a new file must be empty") }
        var state = ContainerState(metadata: metadata)
        state.seals = 1
        let header = try ContainerHeader(sealing: state, 1, key, with: cipher)
        let found = FoundHeader(new: header, state, cipher)
        try Self.write(found.bytes, to: file, at: 0)
        self.init(file, found, isWritable: true, cacheCount: cacheCount) { _ throws(FileProtectionError) in cipher }
        // The first commit makes the headers durable.
        self.state.withLock { state in
            state.hasChangedMap = true
            state.knowsSlots = true
            state.isDraft = true
        }
    }

    /// Returns what the newest header of a file says about its key, which nothing authenticates
    /// without the key.
    ///
    /// - Throws: ``FileProtectionError/notProtected`` for another file.
    public static func keyRecord(
        of descriptor: borrowing OwnedDescriptor, path: String
    ) throws(FileProtectionError) -> FileKeyRecord {
        let copy = dup(descriptor.rawValue)
        guard copy >= 0 else { throw .system(.last("open", path: path)) }
        let file = try OpenContainerFile(OwnedDescriptor(adopting: copy), path: path)
        return try whole(file) { (bytes) throws(FileProtectionError) in try FoundHeader.candidates(bytes)[0].header.key
        }
    }

    static func headerBytes(_ file: any ContainerFile) throws(FileProtectionError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: ContainerFormat.slotsOffset)
        var outcome = Result<Int, FileProtectionError>.success(0)
        bytes.withUnsafeMutableBytes { buffer in
            outcome = Result { () throws(FileProtectionError) in try file.read(into: buffer, at: 0) }
        }
        bytes.removeLast(bytes.count - (try outcome.get()))
        return bytes
    }

    static func write(
        _ bytes: [UInt8], to file: any ContainerFile, at offset: UInt64
    ) throws(FileProtectionError) {
        var outcome = Result<Void, FileProtectionError>.success(())
        bytes.withUnsafeBytes { buffer in
            outcome = Result { () throws(FileProtectionError) in try file.write(buffer, at: offset) }
        }
        try outcome.get()
    }

    // MARK: Reading

    /// The length of the content, in bytes.
    public var length: UInt64 {
        get throws(FileProtectionError) { try withState { (state) throws(FileProtectionError) in state.length } }
    }

    /// The sealed metadata.
    public var metadata: [UInt8] {
        get throws(FileProtectionError) { try withState { (state) throws(FileProtectionError) in state.metadata } }
    }

    /// What the file says about its key.
    public var keyRecord: FileKeyRecord {
        get throws(FileProtectionError) { try withState { (state) throws(FileProtectionError) in state.header.key } }
    }

    /// Whether everything is stored, and both headers of the file are the same. If not,
    /// ``commit(durably:)`` changes it; a file that nothing has open was left by an interrupted change, or
    /// one of its headers is damaged.
    public var isSettled: Bool { state.withLock { $0.isSettled } }

    /// Fills `buffer` with the content at `offset`.
    ///
    /// - Returns: the number of bytes: fewer than the buffer has only at the end.
    public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(FileProtectionError) -> Int {
        try withState { (state) throws(FileProtectionError) in
            guard offset < state.length else { return 0 }
            let count = Int(min(UInt64(buffer.count), state.length - offset))
            var done = 0
            while done < count {
                let position = offset + UInt64(done)
                let chunk = position / UInt64(ContainerFormat.chunkSize)
                let start = Int(position % UInt64(ContainerFormat.chunkSize))
                let part = min(count - done, ContainerFormat.chunkSize - start)
                let target = UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + part])
                try state.read(chunk, from: start, into: target)
                done += part
            }
            return count
        }
    }

    /// Returns the next part of the content from `offset` on that was written; nil if only zeros follow
    /// that need no space.
    public func nextData(from offset: UInt64) throws(FileProtectionError) -> Range<UInt64>? {
        let size = UInt64(ContainerFormat.chunkSize)
        return try withState { (state) throws(FileProtectionError) in
            guard let last = ContainerFormat.lastChunk(state.length), offset < state.length else { return nil }
            let start = offset / size
            let stored = try state.map.nextReference(from: start, in: state.storage)
            let changed = state.cache.dirtyChunks.first { $0 >= start }
            guard let chunk = [stored, changed].compactMap({ $0 }).min(), chunk <= last else { return nil }
            return max(offset, chunk * size)..<min(state.length, (chunk + 1) * size)
        }
    }

    /// How often a read begins again because the writer has stored a new state meanwhile.
    private static let maxTries = 100

    /// Forgets content that was read.
    public func forgetContent() { state.withLock { $0.cache.removeClean() } }

    /// Closes the file. What was not committed is lost.
    public func close() {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.isClosed = true
            state.cache.removeAll(from: 0)
            if isWritable { file.unlock() }
        }
    }

    /// Calls `body` with the present state. A state that another handle replaces meanwhile is read
    /// again.
    func withState<Value>(
        _ body: (inout OpenState) throws(FileProtectionError) -> sending Value
    ) throws(FileProtectionError) -> sending Value {
        let outcome: Result<Value, FileProtectionError> = state.withLock { state in
            do throws(FileProtectionError) {
                guard !state.isClosed else { throw .closed }
                try state.cipher.requireOpen()
                guard !isWritable else { return .success(try body(&state)) }
                // The same loop as in whole(_:_:), which cannot return what is sent elsewhere.
                var tries = 0
                while true {
                    tries += 1
                    let bytes = try Self.headerBytes(file)
                    do throws(FileProtectionError) {
                        try state.refresh(bytes, provider)
                        return .success(try body(&state))
                    } catch {
                        guard error.isOfOneMoment, tries < Self.maxTries, try Self.headerBytes(file) != bytes
                        else { throw error }
                    }
                }
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }
}

extension FileProtectionError {
    /// Whether a writer that replaces the headers meanwhile can be the reason.
    fileprivate var isOfOneMoment: Bool {
        switch self {
        case .damaged, .headersDisagree: true
        default: false
        }
    }
}

extension ProtectedContainer.OpenState {
    /// Loads the state that another handle has stored.
    mutating func refresh(
        _ bytes: [UInt8], _ provider: ProtectedContainer.CipherProvider
    ) throws(FileProtectionError) {
        guard !bytes[...].hasBytes(of: headers[...]) else { return }
        let found = try FoundHeader(bytes) { (record) throws(FileProtectionError) in
            record == header.key ? cipher : try provider(record)
        }
        guard found.header.sequence >= header.sequence else { throw .damaged("an older state was put back") }
        headers = bytes
        header = found.header
        if found.state != stored {
            stored = found.state
            length = found.state.length
            metadata = found.state.metadata
            map = found.map
            cache.removeAll(from: 0)
        }
        use(found.cipher)
    }

    mutating func use(_ cipher: any ContainerCipher) {
        self.cipher = cipher
        storage.cipher = cipher
    }

    /// Copies a part of a chunk.
    mutating func read(
        _ chunk: UInt64, from start: Int, into target: UnsafeMutableRawBufferPointer
    ) throws(FileProtectionError) {
        if let buffer = cache.buffer(of: chunk) { return Self.copy(buffer, from: start, into: target) }
        let count = ContainerFormat.chunkLength(chunk, of: length)
        let reference = try map.reference(to: chunk, in: storage)
        guard !reference.isHole else {
            _ = target.initializeMemory(as: UInt8.self, repeating: 0)
            return
        }
        // A whole chunk is not kept: it is read in order.
        guard start > 0 || target.count < count else {
            return try storage.read(reference, as: part(chunk), into: target)
        }
        let buffer = ChunkBuffer()
        try buffer.withBytes { (bytes) throws(FileProtectionError) in
            try storage.read(
                reference, as: part(chunk), into: UnsafeMutableRawBufferPointer(rebasing: bytes.prefix(count)))
        }
        cache.insert(chunk, buffer, isDirty: false)
        Self.copy(buffer, from: start, into: target)
    }

    private static func copy(_ buffer: ChunkBuffer, from start: Int, into target: UnsafeMutableRawBufferPointer) {
        buffer.withBytes { bytes in
            target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<start + target.count]))
        }
    }

    /// A chunk as its seal authenticates it at the present length.
    func part(_ chunk: UInt64) -> ContainerPart {
        let isLast = chunk == ContainerFormat.lastChunk(length)
        return ContainerPart(file: fileIdentifier, kind: .chunk(chunk, isLast: isLast))
    }
}
