// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The bytes of a backup: a backup writes them, and a restore reads them.
public final class BackupInMemory: Sendable {
    private let rest: Mutex<ArraySlice<UInt8>>

    public init(_ bytes: [UInt8] = []) { rest = Mutex(bytes[...]) }

    /// The bytes that were written and not read.
    public var bytes: [UInt8] { rest.withLock { Array($0) } }

    public func write(_ part: UnsafeRawBufferPointer) { rest.withLock { $0 += part } }

    /// Fills `buffer` as far as bytes are left.
    ///
    /// - Returns: the number of bytes; 0 at the end.
    public func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        rest.withLock { rest in
            let part = rest.prefix(buffer.count)
            buffer.copyBytes(from: part)
            rest = rest.dropFirst(part.count)
            return part.count
        }
    }
}
