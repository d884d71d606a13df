// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// A terminal of 24 lines and 80 columns. The test controls its keyboard and screen.
public final class PseudoTerminal: Sendable {
    /// The path of the device file.
    public let path: String
    private let main: Int32
    private let device: Int32
    private let shown = Mutex<[UInt8]>([])
    /// The number of shown bytes that belong to earlier prompts.
    private let used = Mutex(0)

    public init() throws {
        (main, device, path) = try Self.openPair()
        var size = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
        guard ioctl(device, UInt(TIOCSWINSZ), &size) == 0 else { throw Failure(code: errno) }
        _ = fcntl(main, F_SETFL, O_NONBLOCK)
    }

    /// Opens a new pseudo-terminal: its main side, and its device with the path.
    public static func openPair() throws -> (main: Int32, device: Int32, path: String) {
        let main = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (number, unlocked): (Int32, Int32) = (0, 0)
        // TIOCSPTLCK and TIOCGPTN (ioctl_tty(2)). Swift does not import their definitions.
        guard main >= 0, ioctl(main, 0x4004_5431, &unlocked) == 0, ioctl(main, 0x8004_5430, &number) == 0 else {
            throw Failure(code: errno)
        }
        let path = "/dev/pts/\(number)"
        let device = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard device >= 0 else { throw Failure(code: errno) }
        return (main, device, path)
    }

    public struct Failure: Error { public let code: Int32 }

    deinit {
        close(device)
        close(main)
    }

    /// The text that was shown until now.
    public var screen: String {
        read()
        return shown.withLock { String(decoding: $0, as: UTF8.self) }
    }

    /// Waits until the terminal shows this text and does not echo typed text.
    public func waitForPrompt(_ text: String) -> Bool {
        eventually { screen.contains(text) && !echoes }
    }

    /// Waits as ``waitForPrompt(_:)``, for text that is shown after the last text it waited for.
    public func waitForNewPrompt(_ text: String) -> Bool {
        eventually {
            read()
            let (bytes, start) = (shown.withLock { $0 }, used.withLock { $0 })
            guard String(decoding: bytes.dropFirst(start), as: UTF8.self).contains(text), !echoes else { return false }
            used.withLock { $0 = bytes.count }
            return true
        }
    }

    public func type(_ text: String) {
        var text = text
        text.withUTF8 { _ = write(main, $0.baseAddress, $0.count) }
    }

    /// Whether the terminal shows typed text.
    public var echoes: Bool {
        get { settings.c_lflag & tcflag_t(ECHO) != 0 }
        set {
            var settings = settings
            settings.c_lflag = newValue ? settings.c_lflag | tcflag_t(ECHO) : settings.c_lflag & ~tcflag_t(ECHO)
            tcsetattr(device, TCSANOW, &settings)
        }
    }

    private var settings: termios {
        var settings = termios()
        tcgetattr(device, &settings)
        return settings
    }

    /// A full screen blocks the program that draws on it, so the screen is read while a test waits.
    private func read() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(main, &buffer, buffer.count)
            guard count > 0 else { return }
            shown.withLock { $0 += buffer.prefix(count) }
        }
    }
}
