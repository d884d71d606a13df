// SPDX-License-Identifier: Apache-2.0

/// The name the program was called by. It determines the precedence of sub-commands.
package enum Program: String, Sendable {
    /// macOS's names and their abbreviations take precedence.
    case security
    /// Latchkey's own exact names take precedence.
    case latchkey

    init(calledAs word: CommandWord?) {
        self = word?.lastPathComponent == Program.security.rawValue ? .security : .latchkey
    }
}
