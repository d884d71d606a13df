// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
import Glibc
internal import LinuxSystem
import Synchronization

/// The memory of one process that contains all its secrets.
///
/// The pages come from memfd_secret(2): neither another process nor the kernel can read them. If the kernel does not
/// support it, or the lock limit is exhausted, they are anonymous pages, locked if the limit permits. Both kinds are
/// excluded from core dumps and from forked children. An allocation does not fail because a better kind of page is
/// unavailable. It fails only if memory is exhausted; this ends the process, as everywhere in Swift.
final class SecretArena: Sendable {
    /// The arena of this process. A forked child has an arena of its own.
    static var current: SecretArena { arenas.value }

    private static let arenas = ForkLocal { SecretArena() }

    /// A block of the arena. Its owner frees it exactly once.
    struct Block: @unchecked Sendable {  // because only its owner uses the memory
        let buffer: UnsafeMutableRawBufferPointer
        fileprivate let arena: SecretArena

        /// Whether this process allocated the block. In a forked child its pages are not mapped.
        var isMapped: Bool { arena.forkDetector.isThisProcess }

        /// Wipes the block over its whole length and frees it.
        func free() { arena.free(self) }
    }

    private struct State: @unchecked Sendable {  // because it is only accessed under the mutex
        /// Free blocks by size class: 32, 64, … 4096 bytes.
        var free = [[UnsafeMutableRawPointer]](repeating: [], count: SecretArena.classCount)
    }

    private let forkDetector = ForkDetector()
    private let state = SystemMutex(State())

    /// Allocates a zeroed block of at least `count` bytes.
    func allocate(_ count: Int) -> Block {
        guard let sizeClass = Self.sizeClass(for: count) else {
            let length = Self.pages(for: count)
            let pages = SecretPages.map(length)
            return Block(buffer: UnsafeMutableRawBufferPointer(start: pages, count: length), arena: self)
        }
        let length = Self.length(of: sizeClass)
        let start = state.withLock { state in
            if state.free[sizeClass].isEmpty {
                let chunk = SecretPages.map(Self.chunkLength)
                state.free[sizeClass] = stride(from: 0, to: Self.chunkLength, by: length).reversed().map {
                    chunk.advanced(by: $0)
                }
            }
            return Block.Box(state.free[sizeClass].removeLast())
        }
        return Block(buffer: UnsafeMutableRawBufferPointer(start: start.pointer, count: length), arena: self)
    }

    private func free(_ block: Block) {
        guard let start = block.buffer.baseAddress else { return }
        explicit_bzero(start, block.buffer.count)
        guard let sizeClass = Self.sizeClass(for: block.buffer.count) else {
            munmap(start, block.buffer.count)
            return
        }
        let freed = Block.Box(start)
        state.withLock { $0.free[sizeClass].append(freed.pointer) }
    }

    private static let minBlockSize = 32
    private static let classCount = 8
    /// Small blocks are cut from chunks of this length.
    private static let chunkLength = 16 * 4096

    private static func length(of sizeClass: Int) -> Int { minBlockSize << sizeClass }

    private static func sizeClass(for count: Int) -> Int? {
        (0..<classCount).first { count <= length(of: $0) }
    }

    private static func pages(for count: Int) -> Int {
        (count + 4095) / 4096 * 4096
    }
}

extension SecretArena.Block {
    /// Transfers a pointer out of the mutex.
    fileprivate struct Box: @unchecked Sendable {  // because the block leaves or enters the free list in this call
        let pointer: UnsafeMutableRawPointer
        init(_ pointer: UnsafeMutableRawPointer) { self.pointer = pointer }
    }
}
