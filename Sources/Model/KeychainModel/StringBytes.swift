// SPDX-License-Identifier: Apache-2.0

extension String {
    /// Whether both have the same UTF-8. Swift's `==` treats composed and decomposed text as equal,
    /// but these are different values in a keychain.
    package func hasSameBytes(as other: String) -> Bool {
        let same = utf8.withContiguousStorageIfAvailable { mine in
            other.utf8.withContiguousStorageIfAvailable { otherBytes in
                mine.count == otherBytes.count
                    && UnsafeRawBufferPointer(mine).elementsEqual(UnsafeRawBufferPointer(otherBytes))
            }
        }
        // Bridged text may not be contiguous.
        return (same ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}
