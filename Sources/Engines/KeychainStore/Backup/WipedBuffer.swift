// SPDX-License-Identifier: Apache-2.0

internal import SecretMemory

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
