// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The progress of a long operation: one line on a terminal, rewritten in place. It is shown only
/// for large counts.
package final class ProgressLine: Sendable {
    private let what: String
    private let io: any CommandIO
    private let shown = SystemMutex<Int?>(nil)

    package init(_ what: String, io: any CommandIO) {
        self.what = what
        self.io = io
    }

    package func show(_ done: Int, of total: Int? = nil) {
        guard io.isErrorInteractive, (total ?? done) >= Self.many else { return }
        let isNews = shown.withLock { shown in
            guard done / Self.step != (shown ?? 0) / Self.step || done == total else { return false }
            shown = done
            return true
        }
        if isNews { io.say("\r\(done)\(total.map { " of \($0)" } ?? "") \(what)") }
    }

    package func clear() {
        if shown.withLock({ $0 }) != nil { io.say("\r\u{1B}[K") }
    }

    private static let many = 10000
    private static let step = 1000
}
