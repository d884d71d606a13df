// SPDX-License-Identifier: Apache-2.0

extension String {
    /// Whether both are the same UTF-8. Swift's `==` takes composed and decomposed text for equal, which are two values to a keychain.
    package func hasSameBytes(as other: String) -> Bool {
        let same = utf8.withContiguousStorageIfAvailable { mine in
            other.utf8.withContiguousStorageIfAvailable { peerEnd in
                mine.count == peerEnd.count
                    && UnsafeRawBufferPointer(mine).elementsEqual(UnsafeRawBufferPointer(peerEnd))
            }
        }
        // Text that was bridged from elsewhere may lie in pieces.
        return (same ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}
