// SPDX-License-Identifier: Apache-2.0

/// Numbers as formats store them: the most significant byte first.
extension FixedWidthInteger {
    /// As many bytes as the type has.
    @inlinable public var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }

    /// The unsigned number with these bytes, however many there are; nil if it does not fit.
    @inlinable public init?(bigEndianBytes bytes: some Sequence<UInt8>) {
        var number: UInt64 = 0
        for byte in bytes {
            guard number >> 56 == 0 else { return nil }
            number = number << 8 | UInt64(byte)
        }
        self.init(exactly: number)
    }
}

extension [UInt8] {
    /// Appends as many bytes as the type has.
    @inlinable public mutating func append(bigEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}
