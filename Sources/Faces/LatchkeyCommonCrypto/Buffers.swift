// SPDX-License-Identifier: Apache-2.0

extension UnsafeRawBufferPointer {
    /// Creates a buffer from a caller's pointer and length; nil if the combination is impossible. A
    /// null pointer stands for no bytes.
    init?(checking start: UnsafeRawPointer?, count: Int) {
        guard count >= 0, start != nil || count == 0 else { return nil }
        self.init(start: start, count: count)
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Like ``Swift/UnsafeRawBufferPointer/init(checking:count:)``.
    init?(checking start: UnsafeMutableRawPointer?, count: Int) {
        guard count >= 0, start != nil || count == 0 else { return nil }
        self.init(start: start, count: count)
    }
}
