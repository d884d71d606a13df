// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// Passes bytes to swift-crypto without a copy. It is not generic, because swift-crypto looks up the
/// types of its parameters at run time.
package struct BorrowedBytes: DataProtocol, ContiguousBytes, RandomAccessCollection {
    private let bytes: UnsafeRawBufferPointer

    /// - Parameter bytes: must be valid as long as the value is used.
    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    package var startIndex: Int { bytes.startIndex }
    package var endIndex: Int { bytes.endIndex }
    package subscript(index: Int) -> UInt8 { bytes[index] }
    package subscript(range: Range<Int>) -> Slice<BorrowedBytes> { Slice(base: self, bounds: range) }
    package var regions: CollectionOfOne<BorrowedBytes> { CollectionOfOne(self) }
    package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(bytes)
    }
}
