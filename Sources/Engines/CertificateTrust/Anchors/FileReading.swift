// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// Caches a value that was read from files, and reads it again when a file or the list of files
/// changes.
final class FileReading<Value: Sendable>: Sendable {
    private let state = SystemMutex<(stamps: [String: FileStatus.Stamp], value: Value)?>(nil)

    /// The value that `read` returns for the current state of the files.
    func value(of files: [String], _ read: ([String]) -> Value) -> Value {
        let stamps = Dictionary(files.map { ($0, FileStatus.stamp(of: $0)) }) { first, _ in first }
        return state.withLock { state in
            if let state, state.stamps == stamps { return state.value }
            let value = read(files)
            state = (stamps, value)
            return value
        }
    }
}
