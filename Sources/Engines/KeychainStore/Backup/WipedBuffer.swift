// SPDX-License-Identifier: Apache-2.0

internal import SecretMemory

/// A buffer of fixed capacity that is wiped when it is released.
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

    /// Appends as many of the bytes as fit, and returns their number.
    func append(_ bytes: UnsafeRawBufferPointer) -> Int {
        let taken = min(bytes.count, memory.count - count)
        memory[count..<count + taken].copyBytes(from: bytes.prefix(taken))
        count += taken
        return taken
    }

    /// Removes the first bytes, at most all of them.
    func removeFirst(_ removed: Int) {
        let left = max(0, count - max(0, removed))
        memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: content.suffix(left)))
        SecretBytes.wipe(UnsafeMutableRawBufferPointer(rebasing: memory[left..<count]))
        count = left
    }

    func removeAll() {
        SecretBytes.wipe(memory)
        count = 0
    }
}
