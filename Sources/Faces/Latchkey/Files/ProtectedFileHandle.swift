// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import KeychainModel
internal import LinuxSystem

/// A protected file with a position, and with the calls of Foundation's `FileHandle`.
public final class ProtectedFileHandle: Sendable {
    /// The file.
    public let file: ProtectedFile
    private let position = SystemMutex<UInt64>(0)

    /// Begins at the start of the file.
    public init(_ file: ProtectedFile) { self.file = file }

    /// Opens a protected file for reading.
    public convenience init(forReadingAtPath path: String) throws(KeychainError) {
        self.init(try ProtectedFile(path))
    }

    /// Opens a protected file for reading and writing.
    public convenience init(forUpdatingAtPath path: String) throws(KeychainError) {
        self.init(try ProtectedFile(path, for: .updating))
    }

    /// The position.
    public func offset() -> UInt64 { position.withLock { $0 } }

    /// Moves to a position; it may be beyond the end.
    public func seek(toOffset offset: UInt64) { position.withLock { $0 = offset } }

    /// Moves to the end, and returns its position.
    @discardableResult
    public func seekToEnd() throws(KeychainError) -> UInt64 {
        let end = try file.length
        position.withLock { $0 = end }
        return end
    }

    /// Returns the next bytes; nil at the end.
    public func read(upToCount count: Int) throws(KeychainError) -> Data? {
        let part = try file.read(at: offset(), count: count)
        position.withLock { $0 += UInt64(part.count) }
        return part.isEmpty ? nil : part
    }

    /// Returns the rest; nil at the end.
    public func readToEnd() throws(KeychainError) -> Data? {
        let (start, end) = (offset(), try file.length)
        return start < end ? try read(upToCount: Int(clamping: end - start)) : nil
    }

    /// Writes at the position, and moves it.
    public func write(contentsOf bytes: some ContiguousBytes) throws(KeychainError) {
        let start = offset()
        try file.write(bytes, at: start)
        let count = bytes.withUnsafeBytes(\.count)
        position.withLock { $0 = start + UInt64(count) }
    }

    /// Cuts or extends the file, and moves to its new end.
    public func truncate(atOffset offset: UInt64) throws(KeychainError) {
        try file.truncate(to: offset)
        position.withLock { $0 = offset }
    }

    /// Stores the written content. It is on the storage device when this returns.
    public func synchronize() throws(KeychainError) { try file.synchronize() }

    /// Stores the written content, and closes the file.
    public func close() throws(KeychainError) { try file.close() }
}
