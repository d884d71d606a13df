// SPDX-License-Identifier: Apache-2.0

extension String {
    /// Whether both have the same UTF-8. Swift's `==` treats composed and decomposed text as equal,
    /// but these are different values in a keychain.
    package func hasSameBytes(as other: String) -> Bool {
        let same = utf8.withContiguousStorageIfAvailable { mine in
            other.utf8.withContiguousStorageIfAvailable { peerEnd in
                mine.count == peerEnd.count
                    && UnsafeRawBufferPointer(mine).elementsEqual(UnsafeRawBufferPointer(peerEnd))
            }
        }
        // Bridged text may not be contiguous.
        return (same ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}
