// SPDX-License-Identifier: Apache-2.0

internal import Crypto

/// The body of a backup on its way in. Nothing is lent that was not authenticated.
struct BackupReader: ~Copyable {
    /// Fills as much of the buffer as there is; 0 at the end.
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

    /// Lends the next `count` bytes; nil at the end of the body.
    mutating func next<Result>(
        _ count: Int, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Result
    ) throws(StoreError) -> Result? {
        let buffer = WipedBuffer(count)
        while buffer.count < count {
            if position == chunk.count {
                guard !isAtEnd else {
                    guard buffer.count == 0 else { throw .notABackup("it ends within an item") }
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
        guard let header = try exactly(4) else { throw .notABackup("it ends before its last part") }
        let length = Int(header.reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
        guard (BackupChunk.overhead...BackupChunk.length + BackupChunk.overhead).contains(length),
            let sealed = try exactly(length)
        else {
            throw .notABackup("a part has an impossible length, or is cut short")
        }
        chunk.removeAll()
        position = 0
        // A part opens as the one it is: in its place, and as the last one or not.
        let isMiddle = RowCryptography.openChunk(
            sealed, key: key, nonce: BackupChunk.nonce(counter, isLast: false), into: chunk)
        if !isMiddle {
            guard
                RowCryptography.openChunk(
                    sealed, key: key, nonce: BackupChunk.nonce(counter, isLast: true), into: chunk)
            else {
                throw counter == 0 ? .wrongPassphrase : .notABackup("part \(counter) is not what was written")
            }
            isAtEnd = true
            guard try exactly(1) == nil else { throw .notABackup("bytes follow its last part") }
        }
        counter += 1
    }

    /// That many bytes; nil where there are none left, or fewer.
    private func exactly(_ count: Int) throws(StoreError) -> [UInt8]? {
        let bytes = try Self.bytes(upTo: count, from: source)
        return bytes.count == count ? bytes : nil
    }

    /// As many bytes as there are, up to this number.
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
