// SPDX-License-Identifier: Apache-2.0

import LinuxSystem

/// An untrusted property list. The fuzzer and the test that replays its corpus use it.
enum PropertyListInput {
    /// Reads the bytes.
    ///
    /// - Returns: whether the bytes were read, and the fault of the value; nil for none.
    static func read(_ bytes: [UInt8]) -> (isRead: Bool, fault: String?) {
        guard let value = try? PropertyListReader.readAnyForm(bytes) else { return (false, nil) }
        let (depth, count) = size(of: value)
        guard depth <= PropertyListReader.maxDepth, count <= PropertyListReader.maxCount else {
            return (true, "a list of \(count) values with depth \(depth) was read")
        }
        guard (try? PropertyListReader.readAnyForm(bytes)) == value else {
            return (true, "the same bytes were read as two values")
        }
        return (true, nil)
    }

    /// Returns the depth of nested arrays and dictionaries, and the number of values.
    private static func size(of value: PropertyListValue) -> (depth: Int, count: Int) {
        let members = value.array ?? value.dictionary.map { Array($0.values) }
        guard let members else { return (0, 1) }
        let sizes = members.map(size)
        return (1 + (sizes.map(\.depth).max() ?? 0), 1 + sizes.reduce(0) { $0 + $1.count })
    }
}
