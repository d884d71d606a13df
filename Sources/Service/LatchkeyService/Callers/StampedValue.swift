// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// A value that was read from files, with the state of the files before they were read.
///
/// The state is taken first. A file that changes while it is read therefore makes the value out of
/// date; a changed file never counts as current.
struct StampedValue<Value> {
    let value: Value
    private let paths: [String]
    private let stamps: [FileStatus.Stamp]

    /// - Parameters:
    ///   - paths: the files that `read` reads; they may be missing.
    ///   - read: called after the state of the files is taken.
    init(readFrom paths: [String], _ read: () -> Value) {
        self.paths = paths
        stamps = paths.map { FileStatus.stamp(of: $0) }
        value = read()
    }

    /// Whether every file is unchanged since before the value was read.
    var isCurrent: Bool { zip(paths, stamps).allSatisfy { FileStatus.stamp(of: $0) == $1 } }
}
