// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The progress of a long operation: one line on a terminal, rewritten in place. It is shown only
/// for large counts.
package final class ProgressLine {
    private let what: String
    private let io: any CommandIO
    private var isShown = false
    private var last = 0

    package init(_ what: String, io: any CommandIO) {
        self.what = what
        self.io = io
    }

    package func show(_ done: Int, of total: Int? = nil) {
        guard io.isErrorInteractive, (total ?? done) >= Self.many, done / Self.step != last / Self.step || done == total
        else { return }
        isShown = true
        last = done
        io.say("\r\(done)\(total.map { " of \($0)" } ?? "") \(what)")
    }

    package func clear() {
        if isShown { io.say("\r\u{1B}[K") }
    }

    private static let many = 10000
    private static let step = 1000
}
