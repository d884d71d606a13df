// SPDX-License-Identifier: Apache-2.0

/// The name the command was called by, which decides whose sub-commands come first.
enum Program: String, Sendable {
    /// macOS's names and their prefixes come first.
    case security
    /// Our own exact names come first.
    case latchkey

    init(calledAs word: CommandWord?) {
        self = word?.lastPathComponent == Program.security.rawValue ? .security : .latchkey
    }
}
