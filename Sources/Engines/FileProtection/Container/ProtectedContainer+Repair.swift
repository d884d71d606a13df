// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
public import LinuxSystem

extension ProtectedContainer {
    /// A state of a file that can be read whole.
    public struct WholeState {
        /// ``ProtectedContainer/commit(durably:)`` makes it the only state of the file.
        public let container: ProtectedContainer
        /// Whether it is certain that the file has no newer state.
        public let isNewest: Bool
    }

    /// Opens the newest state of a file that can be read whole, regardless of the other header. Everything is read. A
    /// state without content counts only if it is certainly the newest.
    ///
    /// - Parameter isWritable: whether the descriptor was opened for writing, and the file is locked.
    /// - Throws: the error of opening the file if there is none, or if the key of a state that may be newer
    ///   is not available now, as while its class is closed.
    public static func wholeState(
        of descriptor: consuming OwnedDescriptor, path: String, isWritable: Bool, cipher: @escaping CipherProvider
    ) throws(FileProtectionError) -> WholeState {
        try wholeState(of: try OpenContainerFile(descriptor, path: path), isWritable: isWritable, cipher: cipher)
    }

    static func wholeState(
        of file: any ContainerFile, isWritable: Bool, cipher: @escaping CipherProvider
    ) throws(FileProtectionError) -> WholeState {
        if isWritable { try file.lock() }
        let bytes = try headerBytes(file)
        var found: WholeState?
        var unavailable: FileProtectionError?
        var problem = FileProtectionError.headersDisagree
        for (index, header) in try FoundHeader.candidates(bytes) {
            do throws(FileProtectionError) {
                guard let opened = try FoundHeader(bytes, index, header, cipher: cipher) else { continue }
                // It reads this state alone: a reader would choose between the headers again.
                let container = ProtectedContainer(file, opened, isWritable: true, cacheCount: 0, provider: cipher)
                try container.readWhole()
                let state = WholeState(container: container, isNewest: opened.agreement != .unexplained)
                if state.isNewest { return state }
                // An empty one is also that of another file, or of a new one.
                if found == nil, try container.nextData(from: 0) != nil { found = state }
            } catch {
                if unavailable == nil, error.isAboutAvailability { unavailable = error }
                problem = error
            }
        }
        // The state of a closed class may be a newer one.
        if let unavailable { throw unavailable }
        guard let found else { throw problem }
        return found
    }

    /// Whether both headers of a file are the same, as in each file that nothing has open, unless a change
    /// of it was interrupted or it is damaged. No key is needed.
    ///
    /// - Throws: ``FileProtectionError/notProtected`` for another file.
    public static func hasEqualHeaders(
        _ descriptor: borrowing OwnedDescriptor, path: String
    ) throws(FileProtectionError) -> Bool {
        let file = try OpenContainerFile(try descriptor.duplicate(), path: path)
        let bytes = try headerBytes(file)
        let first = try FoundHeader.candidates(bytes)[0].header.encoded
        return bytes.elementsEqual(first + first)
    }

    /// Reads everything.
    private func readWhole() throws(FileProtectionError) {
        try forEachPart { (_, _) throws(FileProtectionError) in }
    }

    /// Passes the content to `body`, except the parts that need no space and are read as zeros.
    ///
    /// - Throws: ``FileProtectionError/damaged(_:)`` if a part cannot be read whole.
    func forEachPart(
        _ body: (UnsafeRawBufferPointer, _ offset: UInt64) throws(FileProtectionError) -> Void
    ) throws(FileProtectionError) {
        let buffer = ChunkBuffer(ContainerFormat.maxChunkSize)
        var position: UInt64 = 0
        let maxCount = UInt64(ContainerFormat.maxChunkSize / layout.chunkSize)
        while let data = try nextData(from: position, maxCount: maxCount) {
            try buffer.withBytes { (bytes) throws(FileProtectionError) in
                let part = UnsafeMutableRawBufferPointer(rebasing: bytes.prefix(Int(data.upperBound - data.lowerBound)))
                guard try read(into: part, at: data.lowerBound) == part.count else {
                    throw .damaged("it ends before offset \(data.upperBound)")
                }
                try body(UnsafeRawBufferPointer(part), data.lowerBound)
            }
            position = data.upperBound
        }
    }
}

extension FileProtectionError {
    /// Whether the keychain has the key, or may have it, and does not give it now: its class is closed, the
    /// service is away, or the program has no right to the access group. A key that the keychain does not
    /// have is one that a damaged header names.
    fileprivate var isAboutAvailability: Bool {
        guard case .key(let cause) = self else { return false }
        return cause.status != .itemNotFound
    }
}
