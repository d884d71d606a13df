// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import SecretMemory

/// Splits a program's output into lines, in secret memory, because a line may be the answer.
struct AssuanReader: ~Copyable {
    private let buffer = SecretBuffer(count: capacity)
    private var filled = 0
    private var bytesLeft = maxBytes

    /// Calls `body` with the next line, without its line feed. The line is wiped afterwards.
    ///
    /// - Parameter read: reads the next bytes into memory, and returns their number: 0 at the end.
    mutating func withNextLine<Result>(
        read: (UnsafeMutableRawBufferPointer) throws(PinentryError) -> Int,
        body: (UnsafeRawBufferPointer) throws(PinentryError) -> Result
    ) throws(PinentryError) -> Result {
        while true {
            if let length = lineLength() {
                guard length <= AssuanCommand.maxLength else { throw .unexpected(Self.tooLong) }
                return try consume(length, body)
            }
            guard filled <= AssuanCommand.maxLength else { throw .unexpected(Self.tooLong) }
            let (count, limit) = (filled, bytesLeft)
            let got = try buffer.withUnsafeMutableBytes { (memory) throws(PinentryError) in
                try read(UnsafeMutableRawBufferPointer(rebasing: memory.dropFirst(count)))
            }
            guard got > 0 else { throw .ended }
            guard got <= limit else { throw .unexpected("it wrote more than \(Self.maxBytes) bytes") }
            filled += got
            bytesLeft -= got
        }
    }

    /// The length of the first line; nil if it is not complete.
    private func lineLength() -> Int? {
        let count = filled
        return buffer.withUnsafeMutableBytes { $0.prefix(count).firstIndex(of: UInt8(ascii: "\n")) }
    }

    /// Removes the first line and its line feed after `body`.
    private mutating func consume<Result>(
        _ length: Int, _ body: (UnsafeRawBufferPointer) throws(PinentryError) -> Result
    ) throws(PinentryError) -> Result {
        let count = filled
        filled -= length + 1
        return try buffer.withUnsafeMutableBytes { (memory) throws(PinentryError) in
            let used = UnsafeMutableRawBufferPointer(rebasing: memory.prefix(count))
            defer {
                let rest = UnsafeRawBufferPointer(rebasing: used.dropFirst(length + 1))
                memory.copyMemory(from: rest)
                SecretBytes.wipe(UnsafeMutableRawBufferPointer(rebasing: used.dropFirst(rest.count)))
            }
            return try body(UnsafeRawBufferPointer(rebasing: used.prefix(length)))
        }
    }

    /// More than one line with its line feed.
    private static let capacity = 2048
    /// The maximum number of bytes of one conversation.
    static let maxBytes = 1 << 16
    private static let tooLong = "it wrote a line of more than \(AssuanCommand.maxLength) bytes"
}
