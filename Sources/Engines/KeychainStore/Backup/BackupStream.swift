// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import KeychainModel
internal import SecretMemory

/// The body of a backup on its way out: records in sealed chunks of 64 KiB, of which the last says that it is.
struct BackupWriter: ~Copyable {
    typealias Sink = (UnsafeRawBufferPointer) throws(StoreError) -> Void

    private let key: SymmetricKey
    private let sink: Sink
    private var counter: UInt64 = 0
    private let chunk: WipedBuffer

    init(key: SymmetricKey, sink: @escaping Sink) {
        self.key = key
        self.sink = sink
        chunk = WipedBuffer(BackupChunk.length)
    }

    /// Appends bytes, and writes every chunk that is full.
    mutating func append(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        var rest = bytes
        while !rest.isEmpty {
            if chunk.count == BackupChunk.length { try flush(isLast: false) }
            let taken = chunk.append(rest)
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(taken))
        }
    }

    /// Writes what is left. Without this, the backup does not open.
    mutating func finish() throws(StoreError) {
        try flush(isLast: true)
    }

    private mutating func flush(isLast: Bool) throws(StoreError) {
        let sealed = try RowCryptography.sealChunk(chunk.content, key: key, nonce: BackupChunk.nonce(counter, isLast: isLast))
        counter += 1
        chunk.removeAll()
        var header: [UInt8] = []
        header.append(bigEndian: UInt32(sealed.count))
        try (header + sealed).withUnsafeBufferPointer { (bytes) throws(StoreError) in try sink(UnsafeRawBufferPointer(bytes)) }
    }
}

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
        let room = WipedBuffer(count)
        while room.count < count {
            if position == chunk.count {
                guard !isAtEnd else {
                    guard room.count == 0 else { throw .notABackup("it ends within an item") }
                    return nil
                }
                try readChunk()
                continue
            }
            position += room.append(UnsafeRawBufferPointer(rebasing: chunk.content.dropFirst(position).prefix(count - room.count)))
        }
        return try body(room.content)
    }

    private mutating func readChunk() throws(StoreError) {
        guard let header = try exactly(4) else { throw .notABackup("it ends before its last part") }
        let length = Int(header.reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
        guard (BackupChunk.overhead...BackupChunk.length + BackupChunk.overhead).contains(length), let sealed = try exactly(length) else {
            throw .notABackup("a part has an impossible length, or is cut short")
        }
        chunk.removeAll()
        position = 0
        // A part opens as the one it is: in its place, and as the last one or not.
        let isMiddle = RowCryptography.openChunk(sealed, key: key, nonce: BackupChunk.nonce(counter, isLast: false), into: chunk)
        if !isMiddle {
            guard RowCryptography.openChunk(sealed, key: key, nonce: BackupChunk.nonce(counter, isLast: true), into: chunk) else {
                throw counter == 0 ? .wrongPassphrase : .notABackup("part \(counter) is not what was written")
            }
            isAtEnd = true
            guard try exactly(1) == nil else { throw .notABackup("bytes follow its last part") }
        }
        counter += 1
    }

    /// That many bytes; nil where there are none left, or fewer.
    private func exactly(_ count: Int) throws(StoreError) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let start = filled
            let outcome = bytes.withUnsafeMutableBytes { buffer in
                Swift.Result { () throws(StoreError) in try source(UnsafeMutableRawBufferPointer(rebasing: buffer[start...])) }
            }
            let got = try outcome.get()
            guard got > 0 else { return nil }
            filled += got
        }
        return bytes
    }
}

enum BackupChunk {
    /// The plaintext of every chunk but the last.
    static let length = 65536
    /// The tag.
    static let overhead = 16

    /// `be64 counter ‖ 0 0 0 ‖ last`: no key serves two backups, so that no nonce comes twice under one key.
    static func nonce(_ counter: UInt64, isLast: Bool) -> [UInt8] {
        counter.bigEndianBytes + [0, 0, 0, isLast ? 1 : 0]
    }
}

/// Bytes on their way through, up to a fixed number; wiped at the end.
final class WipedBuffer {
    private let memory: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(_ capacity: Int) {
        memory = .allocate(byteCount: max(capacity, 1), alignment: 16)
    }

    deinit {
        SecretBytes.wipe(memory)
        memory.deallocate()
    }

    var content: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory.prefix(count)) }

    /// Takes as many bytes as fit; how many that were.
    func append(_ bytes: UnsafeRawBufferPointer) -> Int {
        let taken = min(bytes.count, memory.count - count)
        memory[count..<count + taken].copyBytes(from: bytes.prefix(taken))
        count += taken
        return taken
    }

    func removeAll() {
        SecretBytes.wipe(memory)
        count = 0
    }
}
