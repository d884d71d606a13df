// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import SecretMemory

/// Secret memory for one chunk, kept for the next one. Pages that the kernel cannot read are expensive to map, because
/// every processor must forget them.
final class ChunkMemory: Sendable {
    private let pages: Pages
    private let range: Range<Int>
    private let pool: Pool

    /// The pages that are mapped at once. The last chunk in them unmaps them.
    private final class Pages: Sendable {
        let bytes = SecretBuffer(count: ContainerFormat.maxChunkSize)
    }

    private init(_ pages: Pages, _ range: Range<Int>, _ pool: Pool) {
        (self.pages, self.range, self.pool) = (pages, range, pool)
    }

    /// Returns memory that contains zeros.
    ///
    /// - Parameter size: the chunk size of a layout.
    static func take(_ size: Int) -> ChunkMemory {
        let pool = pools.value
        if let kept = pool.free.withLock({ $0[size]?.popLast() }) { return kept }
        let pages = Pages()
        let parts = stride(from: 0, to: ContainerFormat.maxChunkSize, by: size).map { start in
            ChunkMemory(pages, start..<start + size, pool)
        }
        pool.free.withLock { $0[size, default: []] += parts.dropFirst() }
        return parts[0]
    }

    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try pages.bytes.withUnsafeMutableBytes { (bytes) throws(Failure) in
            try body(UnsafeMutableRawBufferPointer(rebasing: bytes[range]))
        }
    }

    /// Wipes the memory when its owner has finished with it.
    func giveBack() {
        // A forked child does not have its parent's memory.
        guard pool === Self.pools.value else { return }
        withBytes { SecretBytes.wipe($0) }
        pool.free.withLock { free in
            if free[range.count, default: []].count * range.count < Self.maxFree {
                free[range.count, default: []].append(self)
            }
        }
    }

    private final class Pool: Sendable {
        /// By size.
        let free = SystemMutex<[Int: [ChunkMemory]]>([:])
    }

    /// In bytes, of each size.
    private static let maxFree = 2 << 20
    private static let pools = ForkLocal { Pool() }
}

/// The content of one chunk, followed by zeros; wiped when the last reference ends.
final class ChunkBuffer {
    private let memory: ChunkMemory

    /// - Parameter size: the chunk size of a layout.
    init(_ size: Int) { memory = ChunkMemory.take(size) }

    deinit { memory.giveBack() }

    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try memory.withBytes(body)
    }
}
