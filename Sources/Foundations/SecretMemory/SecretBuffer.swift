// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// Secret memory that is written repeatedly, such as a socket's receive buffer; it is wiped when
/// its owner is destroyed.
public struct SecretBuffer: ~Copyable, Sendable {
    private let block: SecretArena.Block

    /// The number of bytes.
    public let count: Int

    /// Allocates `count` zero bytes.
    public init(count: Int) {
        block = SecretArena.current.allocate(count)
        self.count = count
    }

    deinit {
        if block.isMapped { block.free() }
    }

    /// Calls `body` with the bytes, valid for the duration of the call.
    public borrowing func withUnsafeMutableBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(
            block.isMapped, "a forked child has no access to its parent's secrets; open the keychain again")
        return try body(UnsafeMutableRawBufferPointer(rebasing: block.buffer.prefix(count)))
    }
}
