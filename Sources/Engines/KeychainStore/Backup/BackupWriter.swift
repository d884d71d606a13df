// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import KeychainModel

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
        let sealed = try RowCryptography.sealChunk(
            chunk.content, key: key, nonce: BackupChunk.nonce(counter, isLast: isLast))
        counter += 1
        chunk.removeAll()
        var header: [UInt8] = []
        header.append(bigEndian: UInt32(sealed.count))
        try (header + sealed).withUnsafeBufferPointer { (bytes) throws(StoreError) in
            try sink(UnsafeRawBufferPointer(bytes))
        }
    }
}
