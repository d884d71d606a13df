// SPDX-License-Identifier: Apache-2.0

extension [String] {
    /// The texts in one, as `joined(separator:)` returns it. The standard library's function searches all conformances
    /// of the program at its first call, which is a thirtieth of the instructions of a short command.
    package func concatenated(separator: String) -> String {
        var text = ""
        for (index, part) in enumerated() {
            if index > 0 { text += separator }
            text += part
        }
        return text
    }
}
