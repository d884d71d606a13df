// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// Memory for the bytes that programs read. It is wiped and kept for the next request: mapping pages anew costs more
/// than decrypting them.
final class BufferPool: Sendable {
    private let free = SystemMutex<[Buffer]>([])

    private struct Buffer: @unchecked Sendable {  // because its only owner uses it
        let memory: UnsafeMutableRawBufferPointer
    }

    deinit {
        free.withLock { for buffer in $0 { buffer.memory.deallocate() } }
    }

    /// Calls `body` with `count` bytes. It may use them until it returns how many of them to wipe.
    func withBuffer<Failure: Error>(
        count: Int, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) {
        let buffer = take(count)
        let memory = UnsafeMutableRawBufferPointer(rebasing: buffer.memory.prefix(count))
        var used = count
        defer {
            if let start = memory.baseAddress { explicit_bzero(start, used) }
            giveBack(buffer)
        }
        used = try body(memory)
    }

    private func take(_ count: Int) -> Buffer {
        let kept = count <= Self.size ? free.withLock { $0.popLast() } : nil
        return kept ?? Buffer(memory: .allocate(byteCount: max(count, Self.size), alignment: 4096))
    }

    private func giveBack(_ buffer: Buffer) {
        let isKept = free.withLock { free in
            guard buffer.memory.count == Self.size, free.count < Self.maxFree else { return false }
            free.append(buffer)
            return true
        }
        if !isKept { buffer.memory.deallocate() }
    }

    /// The maximum that the kernel reads at once, unless it is set otherwise.
    private static let size = 1 << 20
    private static let maxFree = 16
}
