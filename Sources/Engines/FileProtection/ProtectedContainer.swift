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
    let cipher: any ContainerCipher
    let isWritable: Bool
    let state: SystemMutex<OpenState>

    struct OpenState: ~Copyable {
        /// Both headers as they were read last.
        var headers: [UInt8]
        var header: ContainerHeader
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
        var isClosed = false

        var fileIdentifier: [UInt8] { header.key.binding.file }
    }

    /// The chunks that a handle keeps decrypted unless something else is requested: 4 MiB.
    public static let defaultCacheCount = 64

    init(
        _ file: any ContainerFile, _ cipher: any ContainerCipher, _ found: FoundHeader,
        isWritable: Bool, cacheCount: Int
    ) {
        self.file = file
        self.cipher = cipher
        self.isWritable = isWritable
        state = SystemMutex(
            OpenState(
                headers: found.bytes, header: found.header, stored: found.state, length: found.state.length,
                metadata: found.state.metadata, map: found.map, cache: ChunkCache(maxCount: cacheCount),
                storage: SlotStorage(file, cipher, seals: found.state.seals)))
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
        cacheCount: Int = defaultCacheCount,
        cipher: (FileKeyRecord) throws(FileProtectionError) -> any ContainerCipher
    ) throws(FileProtectionError) {
        try self.init(
            opening: try OpenContainerFile(descriptor, path: path), isWritable: isWritable, cacheCount: cacheCount,
            cipher: cipher)
    }

    convenience init(
        opening file: any ContainerFile, isWritable: Bool, cacheCount: Int = defaultCacheCount,
        cipher: (FileKeyRecord) throws(FileProtectionError) -> any ContainerCipher
    ) throws(FileProtectionError) {
        if isWritable { try file.lock() }
        let bytes = try Self.headerBytes(file)
        var ciphers: [FileKeyRecord: any ContainerCipher] = [:]
        let found = try FoundHeader(bytes) { (record) throws(FileProtectionError) in
            if let known = ciphers[record] { return known }
            let fresh = try cipher(record)
            ciphers[record] = fresh
            return fresh
        }
        guard let cipher = ciphers[found.header.key] else { throw .closed }
        self.init(file, cipher, found, isWritable: isWritable, cacheCount: cacheCount)
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
        let bytes = header.encoded + header.encoded
        try Self.write(bytes, to: file, at: 0)
        self.init(
            file, cipher, FoundHeader(bytes: bytes, header: header, state: state), isWritable: true,
            cacheCount: cacheCount)
        // The first commit makes the headers durable.
        self.state.withLock { $0.hasChangedMap = true }
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
        return try FoundHeader.candidates(try headerBytes(file))[0].key
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

    /// How often a read begins again because the writer has stored a new state meanwhile.
    private static let maxTries = 100

    /// Forgets content that was read.
    public func forgetContent() { state.withLock { $0.cache.removeClean() } }

    /// Closes the file. What was not committed is lost.
    public func close() {
        state.withLock { state in
            state.isClosed = true
            state.cache.removeAll(from: 0)
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
                try cipher.requireOpen()
                guard !isWritable else { return .success(try body(&state)) }
                var tries = 0
                while true {
                    tries += 1
                    try state.refresh(file, cipher)
                    do throws(FileProtectionError) {
                        return .success(try body(&state))
                    } catch {
                        guard case .damaged = error, tries < Self.maxTries,
                            try Self.headerBytes(file) != state.headers
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

extension ProtectedContainer.OpenState {
    /// Loads the state that another handle has stored.
    mutating func refresh(_ file: any ContainerFile, _ cipher: any ContainerCipher) throws(FileProtectionError) {
        let bytes = try ProtectedContainer.headerBytes(file)
        guard bytes != headers else { return }
        let found = try FoundHeader(bytes) { _ throws(FileProtectionError) in cipher }
        headers = bytes
        header = found.header
        guard found.state != stored else { return }
        stored = found.state
        length = found.state.length
        metadata = found.state.metadata
        map = found.map
        cache.removeAll(from: 0)
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
