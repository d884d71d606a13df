// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
import Glibc
internal import LinuxSystem
import Synchronization

/// The memory of one process in which every secret lies.
///
/// Pages come from memfd_secret(2), which no other process and not even the kernel reads; where the kernel has none, or the lock limit is
/// exhausted, from anonymous pages that are locked if that is allowed. Both are left out of core dumps and of forked children. An
/// allocation never fails for want of a better kind of page, only for want of memory, which stops the process as it does everywhere in Swift.
final class SecretArena: Sendable {
    /// The arena of this process; a forked child gets one of its own.
    static var current: SecretArena { arenas.value }

    private static let arenas = ForkLocal { SecretArena() }

    /// A piece of the arena. Its owner gives it back exactly once.
    struct Block: @unchecked Sendable {  // because the memory is exclusively its owner's
        let buffer: UnsafeMutableRawBufferPointer
        fileprivate let arena: SecretArena

        /// Whether this process is the one that made the block. In a forked child its pages are not mapped.
        var isMapped: Bool { arena.forkDetector.isThisProcess }

        /// Wipes the block over its whole length and gives it back.
        func free() { arena.free(self) }
    }

    private struct State: @unchecked Sendable {  // because it is only reached under the mutex
        /// Free blocks by size class: 32, 64, … 4096 bytes.
        var free = [[UnsafeMutableRawPointer]](repeating: [], count: SecretArena.classCount)
    }

    private let forkDetector = ForkDetector()
    private let state = Mutex(State())

    /// A zeroed block of at least `count` bytes.
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
    /// Carries a pointer out of the mutex.
    fileprivate struct Box: @unchecked Sendable {  // because the block behind it has left the free list, or enters it, by this very call
        let pointer: UnsafeMutableRawPointer
        init(_ pointer: UnsafeMutableRawPointer) { self.pointer = pointer }
    }
}
