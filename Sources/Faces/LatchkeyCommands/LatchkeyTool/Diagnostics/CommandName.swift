// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The names of commands in the debug log.
enum CommandName {
    /// The first word that is the full name of a command; other words may be anything, and are not
    /// returned.
    static func known(in words: [CommandWord]) -> DiagnosticText {
        let first = words.dropFirst().first { !$0.hasPrefix("-") }
        guard let name = first?.text, names.contains(name) else { return "without the full name of a command" }
        return DiagnosticText(unchecked: name)
    }

    private static let names = Set(LatchkeySubcommand.allCases.map(\.rawValue) + CommandTable.entries.map(\.name))
}
