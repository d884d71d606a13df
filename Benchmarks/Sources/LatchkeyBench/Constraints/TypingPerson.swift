// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A terminal that becomes the standard input of this process, and a person at it, who types the
/// passcode when a program reads it.
final class TypingPerson: Sendable {
    private let keyboard: Int32
    private let terminal: Int32
    private let input: Int32

    init(_ passcode: String) throws {
        keyboard = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (number, isLocked): (Int32, Int32) = (0, 0)
        guard keyboard >= 0, ioctl(keyboard, Self.setLock, &isLocked) == 0,
            ioctl(keyboard, Self.getNumber, &number) == 0
        else { throw BenchmarkFailure("no pseudo-terminal: \(String(cString: strerror(errno)))") }
        terminal = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        input = dup(STDIN_FILENO)
        guard terminal >= 0, dup2(terminal, STDIN_FILENO) >= 0 else {
            throw BenchmarkFailure("/dev/pts/\(number): \(String(cString: strerror(errno)))")
        }
        var size = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(terminal, UInt(TIOCSWINSZ), &size)
        setenv("TERM", "xterm", 1)
        let (keyboard, terminal) = (keyboard, terminal)
        Thread.detachNewThread { Self.type("\(passcode)\r", on: keyboard, of: terminal) }
    }

    /// Gives the process its standard input back.
    func leave() {
        _ = dup2(input, STDIN_FILENO)
        close(input)
    }

    /// TIOCSPTLCK and TIOCGPTN (ioctl_tty(2)); Swift does not import their definitions.
    private static let (setLock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)

    /// Waits until a program has displayed its prompt and does not show typed text.
    private static func type(_ text: String, on keyboard: Int32, of terminal: Int32) {
        var (screen, buffer): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 4096))
        while true {
            let count = read(keyboard, &buffer, buffer.count)
            guard count > 0 else { return }
            screen += buffer.prefix(count)
            var settings = termios()
            guard String(decoding: screen, as: UTF8.self).contains("Passcode of the keychain:"),
                tcgetattr(terminal, &settings) == 0,
                settings.c_lflag & tcflag_t(ECHO) == 0
            else { continue }
            screen = []
            var text = text
            text.withUTF8 { _ = write(keyboard, $0.baseAddress, $0.count) }
        }
    }
}
