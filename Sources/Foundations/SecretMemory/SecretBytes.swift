// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// Bytes that must not leave by accident: one owner, in memory that is neither dumped nor inherited, wiped at the end, never printed.
///
/// Borrow the bytes through ``withUnsafeBytes(_:)``. Where several owners are needed, as in queries and results, use ``SharedSecret``.
public struct SecretBytes: ~Copyable, Sendable {
    private let block: SecretArena.Block

    /// The number of bytes.
    public let count: Int

    /// `count` bytes that `initialize` writes straight into the secret memory; they are zero before.
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

    /// A copy of `bytes`. The original is the caller's to wipe.
    public init(copying bytes: UnsafeRawBufferPointer) {
        self.init(count: bytes.count) { $0.copyMemory(from: bytes) }
    }

    /// A copy of `bytes`. The original is the caller's to wipe.
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

    /// `count` random bytes from the kernel.
    public static func random(count: Int) -> SecretBytes {
        SecretBytes(count: count) { RandomBytes.fill($0) }
    }

    deinit {
        // In a forked child the pages are not mapped, and there is nothing to wipe.
        if block.isMapped { block.free() }
    }

    /// Lends the bytes for the duration of the call.
    public borrowing func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(
            block.isMapped, "a secret of the parent process is not there in a forked child; open the keychain anew")
        return try body(UnsafeRawBufferPointer(rebasing: block.buffer.prefix(count)))
    }

    /// A second owner's copy.
    public borrowing func copy() -> SecretBytes {
        withUnsafeBytes { SecretBytes(copying: $0) }
    }

    /// Whether both hold the same bytes, in a time that depends on their lengths alone.
    public borrowing func isEqual(to other: borrowing SecretBytes) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { mine in
            other.withUnsafeBytes { peerEnd in
                var difference: UInt8 = 0
                for index in mine.indices { difference |= mine[index] ^ peerEnd[index] }
                return difference == 0
            }
        }
    }

    /// Overwrites memory that held a secret and is not ours, in a way that no optimisation removes.
    public static func wipe(_ memory: UnsafeMutableRawBufferPointer) {
        guard let start = memory.baseAddress else { return }
        explicit_bzero(start, memory.count)
    }

    /// `<redacted 32 bytes>`. A type that cannot be copied cannot conform to `CustomStringConvertible`; ``SharedSecret`` does.
    public var description: String {
        "<redacted \(count) bytes>"
    }
}
