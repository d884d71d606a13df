// SPDX-License-Identifier: Apache-2.0

/// Reports the progress of a long operation: the rows done, and all rows; on any thread.
public typealias ChangeProgress = @Sendable (_ done: Int, _ total: Int) -> Void
