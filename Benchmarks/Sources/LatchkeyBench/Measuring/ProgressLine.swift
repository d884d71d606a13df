// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Prints the progress as lines on standard error.
enum ProgressLine {
    static func say(_ text: String) {
        // A long run does not end because a line cannot be written.
        _ = Array("\(text)\n".utf8).withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
