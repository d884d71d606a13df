// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import Synchronization

/// What was read out of some files, which is read again when one of them has changed, or others are there.
final class FileReading<Value: Sendable>: Sendable {
    private let state = Mutex<(stamps: [String: FileStatus.Stamp], value: Value)?>(nil)

    /// What `read` has made of the files as they now are.
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
