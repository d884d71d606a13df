// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import SecretMemory

/// Secret memory for one chunk, which is kept for the next one: pages that the kernel cannot read are
/// expensive to map, because every processor must forget them.
final class ChunkMemory: Sendable {
    let bytes = SecretBuffer(count: ContainerFormat.chunkSize)
    private let pool: Pool

    private init(_ pool: Pool) { self.pool = pool }

    /// Returns memory that contains zeros.
    static func take() -> ChunkMemory {
        let pool = pools.value
        return pool.free.withLock { $0.popLast() } ?? ChunkMemory(pool)
    }

    /// Wipes the memory, which its owner does not use any more.
    func giveBack() {
        // A forked child does not have its parent's memory.
        guard pool === Self.pools.value else { return }
        bytes.withUnsafeMutableBytes { SecretBytes.wipe($0) }
        pool.free.withLock { free in
            if free.count < Self.maxFree { free.append(self) }
        }
    }

    private final class Pool: Sendable {
        let free = SystemMutex<[ChunkMemory]>([])
    }

    /// 2 MiB.
    private static let maxFree = 32
    private static let pools = ForkLocal { Pool() }
}
