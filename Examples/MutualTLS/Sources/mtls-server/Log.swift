// SPDX-License-Identifier: Apache-2.0

import Foundation

enum Log {
    /// Writes a line at once, also to a file.
    static func write(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}
