// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What goes on, for whoever waits: a line on standard error.
enum ProgressLine {
    static func say(_ text: String) {
        // A line that cannot be written is not worth ending a long run for.
        _ = Array("\(text)\n".utf8).withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
