// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
public import LinuxSystem

/// An open protected file: random access to its content, and atomic changes of it.
///
/// ``commit()`` stores the written bytes: after a crash, the file has the content of the last commit. One handle at a
/// time may write; any number may read, and see each commit. Safe to use from several threads.
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
        /// The number of the header that is on the storage device for certain: 0 or 1.
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
        /// Whether the second header is equal, but not on the storage device for certain.
        var awaitsSecondHeader = false
        /// Whether this is a new file with nothing on the storage device for certain.
        var isDraft = false
        /// Whether a change failed halfway.
        var isInterrupted = false
        var isClosed = false

        var fileIdentifier: [UInt8] { header.key.binding.file }
        var layout: ContainerLayout { header.layout }

        /// Whether a commit has nothing to do, except to make a draft durable.
        var isSettled: Bool {
            !hasChanges && !awaitsSecondHeader && headers.count == ContainerFormat.slotsOffset
                && headers.prefix(ContainerFormat.headerLength).hasBytes(
                    of: headers.suffix(ContainerFormat.headerLength))
        }
    }

    /// The size of the decrypted chunks that a handle keeps unless another size is requested, in bytes.
    private static let defaultCache = 4 << 20
    /// The size of the changes that a handle keeps unsealed, in bytes.
    private static let maxUnsealed = 1 << 20

    init(
        _ file: any ContainerFile, _ found: FoundHeader, isWritable: Bool, cacheCount: Int?,
        provider: @escaping CipherProvider
    ) {
        self.file = file
        self.isWritable = isWritable
        self.provider = provider
        state = SystemMutex(
            OpenState(
                headers: found.bytes, header: found.header, cipher: found.cipher, durableIndex: found.index,
                stored: found.state, length: found.state.length, metadata: found.state.metadata, map: found.map,
                cache: ChunkCache(
                    maxCount: cacheCount ?? Self.defaultCache / found.header.layout.chunkSize,
                    maxDirtyCount: Self.maxUnsealed / found.header.layout.chunkSize),
                storage: SlotStorage(file, found.header.layout, found.cipher, seals: found.state.seals)))
    }

    // MARK: Opening

    /// Opens a protected file.
    ///
    /// - Parameters:
    ///   - descriptor: opened for reading, and for writing if `isWritable`.
    ///   - cacheCount: the chunks that are kept decrypted; nil for as many as 4 MiB have.
    ///   - cipher: returns the cipher for the key that the file names.
    /// - Throws: ``FileProtectionError/inUse`` if another handle writes.
    public convenience init(
        opening descriptor: consuming OwnedDescriptor, path: String, isWritable: Bool,
        cacheCount: Int? = nil, cipher: @escaping CipherProvider
    ) throws(FileProtectionError) {
        try self.init(
            opening: try OpenContainerFile(descriptor, path: path), isWritable: isWritable, cacheCount: cacheCount,
            cipher: cipher)
    }

    convenience init(
        opening file: any ContainerFile, isWritable: Bool, cacheCount: Int? = nil,
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
    /// - Parameter metadata: the data to seal, at most ``ContainerFormat/maxMetadataLength`` bytes.
    public convenience init(
        creating descriptor: consuming OwnedDescriptor, path: String,
        _ key: FileKeyRecord, _ cipher: any ContainerCipher,
        metadata: [UInt8] = [], cacheCount: Int? = nil
    ) throws(FileProtectionError) {
        try self.init(
            creating: try OpenContainerFile(descriptor, path: path), key, cipher, metadata: metadata,
            cacheCount: cacheCount)
    }

    convenience init(
        creating file: any ContainerFile, _ key: FileKeyRecord, _ cipher: any ContainerCipher,
        layout: ContainerLayout = .latest, metadata: [UInt8] = [], cacheCount: Int? = nil
    ) throws(FileProtectionError) {
        guard metadata.count <= ContainerFormat.maxMetadataLength else { throw .tooLarge }
        try file.lock()
        guard try file.size == 0 else { throw .damaged("a new file must be empty") }
        var state = ContainerState(metadata: metadata)
        state.seals = 1
        let header = try ContainerHeader(sealing: state, layout, 1, key, with: cipher)
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

    /// Returns the key record of a file's newest header. Without the key, nothing authenticates it.
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

    /// Whether the headers are these bytes. Each read of a file asks for it.
    private static func hasHeaders(
        _ bytes: [UInt8], _ file: any ContainerFile
    ) throws(FileProtectionError) -> Bool {
        let outcome = withUnsafeTemporaryAllocation(
            byteCount: ContainerFormat.slotsOffset, alignment: 8
        ) { buffer in
            Result { () throws(FileProtectionError) in
                let count = try file.read(into: buffer, at: 0)
                return bytes.withUnsafeBytes { bytes in
                    guard count == bytes.count, let start = bytes.baseAddress, let found = buffer.baseAddress
                    else { return count == bytes.count }
                    return memcmp(start, found, count) == 0
                }
            }
        }
        return try outcome.get()
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

    /// How the content is divided.
    var layout: ContainerLayout { state.withLock { $0.layout } }

    /// The key record of the file.
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
                let target = UnsafeMutableRawBufferPointer(rebasing: buffer[done..<count])
                done += try state.read(at: offset + UInt64(done), into: target)
            }
            return count
        }
    }

    /// Returns the next part of the content from `offset` on that was written; nil if only zeros follow
    /// that need no space.
    public func nextData(from offset: UInt64) throws(FileProtectionError) -> Range<UInt64>? {
        try nextData(from: offset, maxCount: 1)
    }

    /// - Parameter maxCount: how many chunks the part may have.
    func nextData(from offset: UInt64, maxCount: UInt64) throws(FileProtectionError) -> Range<UInt64>? {
        try withState { (state) throws(FileProtectionError) in
            let size = UInt64(state.layout.chunkSize)
            guard let last = state.layout.lastChunk(state.length), offset < state.length else { return nil }
            guard let chunk = try state.nextChunk(from: offset / size), chunk <= last else { return nil }
            var end = chunk + 1
            while end <= last, end - chunk < maxCount, try state.nextChunk(from: end) == end { end += 1 }
            return max(offset, chunk * size)..<min(state.length, end * size)
        }
    }

    /// How often a read begins again because the writer has stored a new state meanwhile.
    private static let maxTries = 100

    /// Forgets content that was read.
    public func forgetContent() { state.withLock { $0.cache.removeClean() } }

    /// Closes the file. Uncommitted changes are lost.
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
                // The same loop as in whole(_:_:), because that function cannot return a `sending` value.
                var tries = 0
                while true {
                    tries += 1
                    let isSame = try Self.hasHeaders(state.headers, file)
                    let bytes = isSame ? state.headers : try Self.headerBytes(file)
                    do throws(FileProtectionError) {
                        if !isSame { try state.refresh(bytes, provider) }
                        return .success(try body(&state))
                    } catch {
                        guard error.isOfOneMoment, tries < Self.maxTries, try !Self.hasHeaders(bytes, file)
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
        let found = try FoundHeader(bytes) { (record) throws(FileProtectionError) in
            record == header.key ? cipher : try provider(record)
        }
        guard found.header.sequence >= header.sequence else { throw .damaged("an older state was put back") }
        guard found.header.layout == layout else { throw .damaged("its chunks have another length") }
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

    /// Returns the first chunk from `chunk` on that was written; nil if there is none.
    mutating func nextChunk(from chunk: UInt64) throws(FileProtectionError) -> UInt64? {
        let stored = try map.nextReference(from: chunk, in: storage)
        let changed = cache.hasDirtyChunks ? cache.dirtyChunks.first { $0 >= chunk } : nil
        return [stored, changed].compactMap { $0 }.min()
    }

    /// Reads within the present length, at least to the end of a chunk.
    ///
    /// - Returns: the number of bytes.
    mutating func read(
        at offset: UInt64, into target: UnsafeMutableRawBufferPointer
    ) throws(FileProtectionError) -> Int {
        let (chunk, start) = (offset / UInt64(layout.chunkSize), Int(offset % UInt64(layout.chunkSize)))
        let count = layout.chunkLength(chunk, of: length)
        let part = UnsafeMutableRawBufferPointer(rebasing: target.prefix(count - start))
        if let buffer = cache.buffer(of: chunk) {
            Self.copy(buffer, from: start, into: part)
            return part.count
        }
        let reference = try map.reference(to: chunk, in: storage)
        guard !reference.isHole else {
            _ = part.initializeMemory(as: UInt8.self, repeating: 0)
            return part.count
        }
        guard part.count < count else { return try readRun(from: chunk, reference, into: target) }
        let buffer = ChunkBuffer(layout.chunkSize)
        try buffer.withBytes { (bytes) throws(FileProtectionError) in
            try storage.read(
                reference, as: self.part(chunk), into: UnsafeMutableRawBufferPointer(rebasing: bytes.prefix(count)))
        }
        cache.insert(chunk, buffer, isDirty: false)
        Self.copy(buffer, from: start, into: part)
        return part.count
    }

    /// Reads whole chunks, as far as one slot follows the other. They are not kept: they are read in order.
    ///
    /// - Returns: the number of bytes.
    private mutating func readRun(
        from chunk: UInt64, _ reference: ChunkReference, into target: UnsafeMutableRawBufferPointer
    ) throws(FileProtectionError) -> Int {
        var references = [reference]
        var count = layout.chunkLength(chunk, of: length)
        while references.count < storage.maxRun {
            let next = chunk + UInt64(references.count)
            let more = layout.chunkLength(next, of: length)
            guard more > 0, count + more <= target.count, !cache.contains(next) else { break }
            let reference = try map.reference(to: next, in: storage)
            guard !reference.isHole, reference.slot == references[references.count - 1].slot + 1 else { break }
            references.append(reference)
            count += more
        }
        let parts = references.indices.map { part(chunk + UInt64($0)) }
        try storage.read(references, into: UnsafeMutableRawBufferPointer(rebasing: target.prefix(count))) { parts[$0] }
        return count
    }

    private static func copy(_ buffer: ChunkBuffer, from start: Int, into target: UnsafeMutableRawBufferPointer) {
        buffer.withBytes { bytes in
            target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<start + target.count]))
        }
    }

    /// A chunk as its seal authenticates it at the present length.
    func part(_ chunk: UInt64) -> ContainerPart {
        let isLast = chunk == layout.lastChunk(length)
        return ContainerPart(file: fileIdentifier, kind: .chunk(chunk, isLast: isLast))
    }
}
