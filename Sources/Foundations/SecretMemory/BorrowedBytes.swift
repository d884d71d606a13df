// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Passes bytes to swift-crypto without a copy. It is not generic, because swift-crypto looks up the
/// types of its parameters at run time.
public struct BorrowedBytes: DataProtocol, ContiguousBytes, RandomAccessCollection {
    private let bytes: UnsafeRawBufferPointer

    /// - Parameter bytes: must be valid as long as the value is used.
    public init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    public var startIndex: Int { bytes.startIndex }
    public var endIndex: Int { bytes.endIndex }
    public subscript(index: Int) -> UInt8 { bytes[index] }
    public subscript(range: Range<Int>) -> Slice<BorrowedBytes> { Slice(base: self, bounds: range) }
    public var regions: CollectionOfOne<BorrowedBytes> { CollectionOfOne(self) }
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(bytes)
    }
}
