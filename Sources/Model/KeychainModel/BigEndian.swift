// SPDX-License-Identifier: Apache-2.0

/// Numbers as the formats store them: the most significant byte first.
extension FixedWidthInteger {
    package var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}

extension [UInt8] {
    @inlinable package mutating func append(bigEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}
