// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The controlling terminal, for prompts with an answer that must not be displayed.
public enum Terminal {
    /// Whether standard input is a terminal.
    public static var isInputInteractive: Bool {
        isatty(STDIN_FILENO) == 1
    }

    /// Writes `prompt` to the terminal and reads one line without echo into `buffer`.
    ///
    /// - Returns: the number of bytes of the line, without its end; nil at the end of input.
    /// - Throws: `SystemError`: `ENXIO` if there is no terminal, `ECANCELED` after Ctrl-C,
    ///   `EMSGSIZE` if the line does not fit.
    public static func readSecretLine(prompt: StaticString, into buffer: UnsafeMutableRawBufferPointer)
        throws(SystemError) -> Int?
    {
        let terminal = try OwnedDescriptor(opening: "/dev/tty", flags: O_RDWR | O_NOCTTY)
        var before = termios()
        guard tcgetattr(terminal.rawValue, &before) == 0 else { throw .last("prompt on the terminal") }
        var silent = before
        // Ctrl-C ends the line as a character. As a signal it would kill the process and leave the
        // terminal without echo.
        silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
        silent.c_lflag |= tcflag_t(ECHONL)
        withUnsafeMutableBytes(of: &silent.c_cc) { $0[Int(VEOL)] = interrupt }
        guard tcsetattr(terminal.rawValue, TCSAFLUSH, &silent) == 0 else { throw .last("prompt on the terminal") }
        defer { tcsetattr(terminal.rawValue, TCSAFLUSH, &before) }
        try Array(prompt.description.utf8).withUnsafeBufferPointer { (text) throws(SystemError) in
            try terminal.write(UnsafeRawBufferPointer(text), path: "/dev/tty")
        }
        return try readLine(from: terminal.rawValue, into: buffer)
    }

    /// Reads one line from standard input into `buffer`, byte by byte, so that nothing after the
    /// line is consumed.
    ///
    /// - Returns: the number of bytes of the line, without its end; nil at the end of input.
    public static func readInputLine(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int? {
        try readLine(from: STDIN_FILENO, into: buffer)
    }

    private static func readLine(from descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError)
        -> Int?
    {
        var count = 0
        var byte: UInt8 = 0
        let isTerminal = isatty(descriptor) == 1
        defer { byte = 0 }
        while true {
            let got = read(descriptor, &byte, 1)
            if got < 0 {
                if errno == EINTR { continue }
                throw .last("read a line")
            }
            if got == 0 { return count == 0 ? nil : count }
            if byte == UInt8(ascii: "\n") { return count }
            if byte == interrupt, isTerminal { throw SystemError("read the answer", code: ECANCELED) }
            guard count < buffer.count else {
                throw SystemError("read a line of more than \(buffer.count) bytes", code: EMSGSIZE)
            }
            buffer[count] = byte
            count += 1
        }
    }

    /// Ctrl-C.
    private static let interrupt: UInt8 = 0x03
}
