// SPDX-License-Identifier: Apache-2.0

extension UnsafeRawBufferPointer {
    /// A caller's pointer and length; nil where there cannot be so many bytes. A null pointer
    /// stands for no bytes.
    init?(checking start: UnsafeRawPointer?, count: Int) {
        guard count >= 0, start != nil || count == 0 else { return nil }
        self.init(start: start, count: count)
    }
}

extension UnsafeMutableRawBufferPointer {
    /// As ``Swift/UnsafeRawBufferPointer/init(checking:count:)``.
    init?(checking start: UnsafeMutableRawPointer?, count: Int) {
        guard count >= 0, start != nil || count == 0 else { return nil }
        self.init(start: start, count: count)
    }
}
