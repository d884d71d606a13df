// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem
internal import SecretMemory

/// A way to the clipboard: a program for the display, or the terminal itself.
enum Clipboard: String, CaseIterable, Sendable {
    case wlCopy = "wl-copy"
    case xclip, xsel
    /// The escape sequence that sets the clipboard of a program's terminal, also over SSH (xterm, "Operating System
    /// Commands", Ps = 52).
    case osc52

    /// Returns the way that works in this environment; nil if there is none.
    ///
    /// Over SSH the terminal comes first, because its clipboard is that of the user. Otherwise a
    /// display comes first, because its clipboard can be read before it is cleared.
    ///
    /// - Parameters:
    ///   - variable: returns the value of an environment variable.
    ///   - isInstalled: returns whether a program exists.
    ///   - hasTerminal: whether an output of this process is a terminal.
    static func choose(
        variable: (String) -> String? = SecureEnvironment.value, isInstalled: (String) -> Bool = isInstalled,
        hasTerminal: Bool
    ) -> Clipboard? {
        let term = variable("TERM") ?? "dumb"
        let terminal: Clipboard? = hasTerminal && !["dumb", "linux"].contains(term) ? .osc52 : nil
        if let terminal, variable("SSH_CONNECTION") ?? variable("SSH_TTY") != nil { return terminal }
        let programs = [("WAYLAND_DISPLAY", wlCopy), ("DISPLAY", xclip), ("DISPLAY", xsel)]
        let program = programs.first { variable($0.0) != nil && isInstalled($0.1.rawValue) }
        return program?.1 ?? terminal
    }

    /// Returns whether a program of this name is in a directory of PATH.
    static func isInstalled(_ name: String) -> Bool {
        (SecureEnvironment.value(of: "PATH") ?? "").split(separator: ":").contains {
            access("\($0)/\(name)", X_OK) == 0
        }
    }

    // MARK: Programs

    /// The command that sets the clipboard to its standard input; empty for the terminal.
    var copyCommand: [String] {
        switch self {
        case .wlCopy: ["wl-copy", "--type", "text/plain"]
        case .xclip: ["xclip", "-selection", "clipboard", "-in"]
        case .xsel: ["xsel", "--clipboard", "--input"]
        case .osc52: []
        }
    }

    /// The command that prints the clipboard; empty for the terminal, because its clipboard cannot be read.
    var pasteCommand: [String] {
        switch self {
        case .wlCopy: ["wl-paste", "--no-newline"]
        case .xclip: ["xclip", "-selection", "clipboard", "-out"]
        case .xsel: ["xsel", "--clipboard", "--output"]
        case .osc52: []
        }
    }

    /// The command that empties the clipboard; it gets empty input.
    var clearCommand: [String] {
        switch self {
        case .wlCopy: ["wl-copy", "--clear"]
        case .xclip: copyCommand
        case .xsel: ["xsel", "--clipboard", "--clear"]
        case .osc52: []
        }
    }

    // MARK: The terminal

    /// Returns the sequence that sets the clipboard of the terminal.
    static func terminalSequence(for secret: SharedSecret) -> SecretBytes {
        let (start, end) = ("\u{1B}]52;c;", "\u{7}")
        return SharedSecret(joining: [
            SharedSecret(copying: start.utf8), secret.base64, SharedSecret(copying: end.utf8),
        ])
        .copy()
    }

    /// Replaces the clipboard by a space, and then empties it: some terminals ignore the empty
    /// value.
    static let terminalClearSequence: TerminalText = "\u{1B}]52;c;IA==\u{7}\u{1B}]52;c;\u{7}"

    /// The maximum length of a secret for the terminal: terminals limit the sequence to about
    /// 75,000 characters.
    static let maxTerminalLength = 54_000
}
