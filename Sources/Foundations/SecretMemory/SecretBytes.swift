// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// Bytes that must not be disclosed by accident: they have one owner, are in memory that is neither
/// dumped nor inherited, are wiped at the end, and are never printed.
///
/// Borrow the bytes with ``withUnsafeBytes(_:)``. If several owners are needed, as in queries and
/// results, use ``SharedSecret``.
public struct SecretBytes: ~Copyable, Sendable {
    private let block: SecretArena.Block

    /// The number of bytes.
    public let count: Int

    /// Allocates `count` zero bytes; `initialize` writes directly into them.
    public init<Failure: Error>(
        count: Int, initializingWith initialize: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        let block = SecretArena.current.allocate(count)
        do {
            try initialize(UnsafeMutableRawBufferPointer(rebasing: block.buffer.prefix(count)))
        } catch {
            block.free()
            throw error
        }
        self.block = block
        self.count = count
    }

    /// Copies `bytes`. The caller must wipe the original.
    public init(copying bytes: UnsafeRawBufferPointer) {
        self.init(count: bytes.count) { $0.copyMemory(from: bytes) }
    }

    /// Copies `bytes`. The caller must wipe the original.
    public init(_ bytes: some Sequence<UInt8>) {
        if let contiguous = bytes.withContiguousStorageIfAvailable({
            SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer($0)))
        }) {
            self = contiguous.copy()
            return
        }
        var array = Array(bytes)
        self.init(count: array.count) { $0.copyBytes(from: array) }
        array.withUnsafeMutableBytes { SecretBytes.wipe($0) }
    }

    /// Returns `count` random bytes from the kernel.
    public static func random(count: Int) -> SecretBytes {
        SecretBytes(count: count) { RandomBytes.fill($0) }
    }

    deinit {
        // In a forked child the pages are not mapped, so there is nothing to wipe.
        if block.isMapped { block.free() }
    }

    /// Calls `body` with the bytes, valid for the duration of the call.
    public borrowing func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(
            block.isMapped, "a forked child has no access to its parent's secrets; open the keychain again")
        return try body(UnsafeRawBufferPointer(rebasing: block.buffer.prefix(count)))
    }

    /// Returns a copy for a second owner.
    public borrowing func copy() -> SecretBytes {
        withUnsafeBytes { SecretBytes(copying: $0) }
    }

    /// Whether both contain the same bytes. The time depends on their lengths only.
    public borrowing func isEqual(to other: borrowing SecretBytes) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { mine in
            other.withUnsafeBytes { otherBytes in
                var difference: UInt8 = 0
                for index in mine.indices { difference |= mine[index] ^ otherBytes[index] }
                return difference == 0
            }
        }
    }

    /// Overwrites other memory that contained a secret, in a way that the optimizer cannot remove.
    public static func wipe(_ memory: UnsafeMutableRawBufferPointer) {
        guard let start = memory.baseAddress else { return }
        explicit_bzero(start, memory.count)
    }

    /// `<redacted 32 bytes>`. A noncopyable type cannot conform to `CustomStringConvertible`;
    /// ``SharedSecret`` does.
    public var description: String {
        "<redacted \(count) bytes>"
    }
}
