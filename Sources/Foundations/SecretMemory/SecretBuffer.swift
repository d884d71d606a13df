// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// Secret memory that is written again and again, such as what a socket receives into; wiped when it goes.
public struct SecretBuffer: ~Copyable, Sendable {
    private let block: SecretArena.Block

    /// The number of bytes.
    public let count: Int

    /// `count` zero bytes.
    public init(count: Int) {
        block = SecretArena.current.allocate(count)
        self.count = count
    }

    deinit {
        if block.isMapped { block.free() }
    }

    /// Lends the bytes for the duration of the call.
    public borrowing func withUnsafeMutableBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(
            block.isMapped, "a secret of the parent process is not there in a forked child; open the keychain anew")
        return try body(UnsafeMutableRawBufferPointer(rebasing: block.buffer.prefix(count)))
    }
}
