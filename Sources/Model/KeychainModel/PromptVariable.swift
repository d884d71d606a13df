// SPDX-License-Identifier: Apache-2.0

/// A value that a program sends about the terminal and the display of its user.
///
/// Each has a rule, because a value determines the device on which a person types a secret, and some values could make
/// a library in the prompting program run another program.
public enum PromptVariable: String, Sendable, Hashable, CaseIterable {
    /// The device file of the terminal: `/dev/pts/3`.
    case terminal = "GPG_TTY"
    /// The type of the terminal: `xterm-256color`.
    case terminalType = "TERM"
    /// The X display of this machine: `:0`, or `localhost:10.0` for one that ssh forwards.
    case display = "DISPLAY"
    /// The Wayland display: `wayland-0`, or the path of a socket.
    case waylandDisplay = "WAYLAND_DISPLAY"
    /// The file with the cookies of the X display.
    case authorityFile = "XAUTHORITY"
    /// The session bus, used by some graphical prompts.
    case sessionBus = "DBUS_SESSION_BUS_ADDRESS"

    /// The longest value, in bytes.
    public var maxLength: Int {
        switch self {
        case .terminal, .terminalType, .display: 64
        case .waylandDisplay: 255
        case .authorityFile, .sessionBus: 1024
        }
    }

    /// A description of a well-formed value, for messages.
    public var expectation: String {
        switch self {
        case .terminal: "the device file of a terminal"
        case .terminalType: "the name of a terminal type"
        case .display: ":NUMBER, unix:NUMBER or localhost:NUMBER"
        case .waylandDisplay: "the name of a socket"
        case .authorityFile: "an absolute path"
        case .sessionBus: "the address of a Unix socket"
        }
    }

    /// Whether the value is well-formed.
    public func accepts(_ value: String) -> Bool {
        guard !value.isEmpty, value.utf8.count <= maxLength else { return false }
        return switch self {
        case .terminal: Self.isTerminal(value)
        case .terminalType: value.utf8.allSatisfy { $0.isLetterOrDigit || "._+-".utf8.contains($0) }
        case .display: Self.isDisplay(value)
        case .waylandDisplay: value.hasPrefix("/") ? Self.isPath(value) : Self.isName(value)
        case .authorityFile: value.hasPrefix("/") && Self.isPath(value)
        case .sessionBus: Self.isUnixAddress(value)
        }
    }

    // MARK: Rules

    /// Only devices that are terminals under any number, because opening another device can have an effect. `/dev/tty`
    /// is the terminal of the process that opens it, so it names none.
    private static func isTerminal(_ path: String) -> Bool {
        if let number = path.text(after: "/dev/pts/") { return isNumber(number) }
        guard let name = path.text(after: "/dev/tty") ?? path.text(after: "/dev/hvc") else { return false }
        return !name.isEmpty && name.utf8.allSatisfy(\.isLetterOrDigit)
    }

    /// Only displays of this machine: text that a person types on a display of another machine crosses the network, and
    /// a program could name a machine of its own.
    private static func isDisplay(_ value: String) -> Bool {
        let rest = [":", "unix:", "localhost:"].lazy.compactMap { value.text(after: $0) }.first
        guard let numbers = rest?.split(separator: ".", omittingEmptySubsequences: false) else { return false }
        return numbers.count <= 2 && numbers.allSatisfy(isNumber)
    }

    /// Only addresses of sockets: other transports connect to a machine, or run a program (`unixexec:`).
    private static func isUnixAddress(_ value: String) -> Bool {
        let rest = value.text(after: "unix:path=/") ?? value.text(after: "unix:abstract=")
        guard let rest, !rest.isEmpty else { return false }
        // A semicolon begins a second address; a comma begins a key, such as the server's guid.
        return rest.utf8.allSatisfy { $0.isLetterOrDigit || "/._-+=,%@".utf8.contains($0) }
    }

    private static func isName(_ value: String) -> Bool {
        value.utf8.allSatisfy { $0.isLetterOrDigit || "._-".utf8.contains($0) }
    }

    private static func isPath(_ value: String) -> Bool {
        value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } && !value.split(separator: "/").contains("..")
    }

    private static func isNumber(_ text: some StringProtocol) -> Bool {
        (1...5).contains(text.utf8.count) && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= $0 }
    }
}

extension UInt8 {
    /// Whether this is an ASCII letter or digit.
    fileprivate var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

extension String {
    /// The text after a prefix; nil if it does not begin with it. The bytes are compared, because
    /// the kernel compares bytes.
    fileprivate func text(after prefix: String) -> String? {
        guard utf8.starts(with: prefix.utf8) else { return nil }
        return String(utf8.dropFirst(prefix.utf8.count))
    }
}
