// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import LinuxSystem

/// Reads the body of a backup. It passes on only authenticated bytes.
struct BackupReader: ~Copyable {
    /// Fills the buffer with the bytes that are available, and returns their number; 0 at the end.
    typealias Source = (UnsafeMutableRawBufferPointer) throws(StoreError) -> Int

    private let key: SymmetricKey
    private let source: Source
    private var counter: UInt64 = 0
    private var isAtEnd = false
    private let chunk: WipedBuffer
    private var position = 0

    init(key: SymmetricKey, source: @escaping Source) {
        self.key = key
        self.source = source
        chunk = WipedBuffer(BackupChunk.length)
    }

    /// Calls `body` with the next `count` bytes; returns nil at the end of the body of the backup.
    mutating func next<Result>(
        _ count: Int, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Result
    ) throws(StoreError) -> Result? {
        let buffer = WipedBuffer(count)
        while buffer.count < count {
            if position == chunk.count {
                guard !isAtEnd else {
                    guard buffer.count == 0 else { throw .notABackup("it ends in the middle of an item") }
                    return nil
                }
                try readChunk()
                continue
            }
            position += buffer.append(
                UnsafeRawBufferPointer(rebasing: chunk.content.dropFirst(position).prefix(count - buffer.count)))
        }
        return try body(buffer.content)
    }

    private mutating func readChunk() throws(StoreError) {
        guard let header = try exactly(4) else { throw .notABackup("the last chunk is missing") }
        guard let length = Int(bigEndianBytes: header),
            (BackupChunk.overhead...BackupChunk.length + BackupChunk.overhead).contains(length),
            let sealed = try exactly(length)
        else {
            throw .notABackup("a chunk is truncated or has an invalid length")
        }
        chunk.removeAll()
        position = 0
        // A chunk opens only with its own counter and its own last flag.
        let isMiddle = RowCryptography.openChunk(
            sealed, key: key, nonce: BackupChunk.nonce(counter, isLast: false), into: chunk)
        if !isMiddle {
            guard
                RowCryptography.openChunk(
                    sealed, key: key, nonce: BackupChunk.nonce(counter, isLast: true), into: chunk)
            else {
                throw counter == 0 ? .wrongPassphrase : .notABackup("chunk \(counter) does not authenticate")
            }
            isAtEnd = true
            guard try exactly(1) == nil else { throw .notABackup("unexpected bytes after the last chunk") }
        }
        counter += 1
    }

    /// Returns `count` bytes; nil if fewer are left.
    private func exactly(_ count: Int) throws(StoreError) -> [UInt8]? {
        let bytes = try Self.bytes(upTo: count, from: source)
        return bytes.count == count ? bytes : nil
    }

    /// Returns at most `count` bytes; fewer at the end of the source.
    static func bytes(upTo count: Int, from source: Source) throws(StoreError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let start = filled
            let outcome = bytes.withUnsafeMutableBytes { buffer in
                Swift.Result { () throws(StoreError) in
                    try source(UnsafeMutableRawBufferPointer(rebasing: buffer[start...]))
                }
            }
            let got = try outcome.get()
            guard got > 0 else { break }
            filled += got
        }
        return Array(bytes.prefix(filled))
    }
}
