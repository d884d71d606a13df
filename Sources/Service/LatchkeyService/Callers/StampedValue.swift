// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// A value that was read from files, and the state that the files had before they were read.
///
/// Because the state is taken first, a file that changes while it is read makes the value out of date, and never the other way round.
struct StampedValue<Value> {
    let value: Value
    private let paths: [String]
    private let stamps: [FileStatus.Stamp]

    /// - Parameters:
    ///   - paths: the files that `read` reads; they may be missing.
    ///   - read: called after the state of the files was taken.
    init(readFrom paths: [String], _ read: () -> Value) {
        self.paths = paths
        stamps = paths.map { FileStatus.stamp(of: $0) }
        value = read()
    }

    /// Whether every file is as it was before the value was read.
    var isCurrent: Bool { paths.map { FileStatus.stamp(of: $0) } == stamps }
}
