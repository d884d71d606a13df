// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import KeychainModel
internal import LinuxSystem

/// Writes the body of a backup: items in sealed chunks of 64 KiB. The nonce of the last chunk marks
/// it as the last.
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

    /// Appends bytes, and writes every full chunk.
    mutating func append(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        var rest = bytes
        while !rest.isEmpty {
            if chunk.count == BackupChunk.length { try flush(isLast: false) }
            let taken = chunk.append(rest)
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(taken))
        }
    }

    /// Writes the last chunk. A backup without it is rejected.
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
