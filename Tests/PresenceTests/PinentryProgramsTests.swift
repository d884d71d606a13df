// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainModel
import KeychainTesting
@testable import Presence
import Testing

/// The choice of the program that asks.
@Suite("Choice of a pinentry")
struct PinentryProgramsTests {
    @Test(
        "The program fits the display or the terminal",
        arguments: [
            ([PromptVariable.display: ":0"], ["gnome3", "qt", "qt5", "gtk-2", "x11", ""]),
            ([.waylandDisplay: "wayland-0"], ["gnome3", "qt", "qt5", ""]),
            ([.terminal: "/dev/pts/1", .terminalType: "xterm"], ["curses", "tty", ""]),
            ([.terminal: "/dev/pts/1", .terminalType: "dumb"], ["tty", "curses", ""]),
            ([.terminal: "/dev/pts/1"], ["tty", "curses", ""]),
            (
                [.waylandDisplay: "wayland-0", .terminal: "/dev/pts/1", .terminalType: "xterm"],
                ["gnome3", "qt", "qt5", "", "curses", "tty"]
            ),
        ])
    func choice(_ values: [PromptVariable: String], _ names: [String]) throws {
        let directory = try TemporaryDirectory()
        for name in ["gnome3", "qt", "qt5", "gtk-2", "x11", "curses", "tty"] {
            try directory.addProgram("pinentry-\(name)")
        }
        try directory.addProgram("pinentry")
        let found = try Self.programs([directory]).candidates(at: PromptPlace(values))
        #expect(found.map(\.path) == names.map { "\(directory.path)/pinentry\($0.isEmpty ? "" : "-\($0)")" })
    }

    @Test("The first directory that has a program of a name is used, and a file with two names once")
    func directories() throws {
        let (first, second) = (try TemporaryDirectory(), try TemporaryDirectory())
        try first.addProgram("pinentry-tty")
        try second.addProgram("pinentry-tty")
        try second.addProgram("pinentry-curses")
        #expect(symlink("\(second.path)/pinentry-curses", "\(second.path)/pinentry") == 0)
        let found = try Self.programs([first, second]).candidates(at: PromptPlace([.terminal: "/dev/pts/1"]))
        #expect(found.map(\.path) == ["\(first.path)/pinentry-tty", "\(second.path)/pinentry-curses"])
    }

    @Test(
        "A program that another user can replace is not used",
        arguments: [
            "writable", "writable by the group", "not executable", "a directory", "in a writable directory",
            "a link into one",
        ])
    func untrusted(_ kind: String) throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/pinentry-tty"
        switch kind {
        case "writable": try directory.addProgram("pinentry-tty", mode: 0o757)
        case "writable by the group": try directory.addProgram("pinentry-tty", mode: 0o775)
        case "not executable": try directory.addProgram("pinentry-tty", mode: 0o644)
        case "a directory": #expect(mkdir(path, 0o755) == 0)
        case "a link into one":
            #expect(mkdir("\(directory.path)/open", 0o755) == 0)
            try directory.addProgram("open/program")
            #expect(chmod("\(directory.path)/open", 0o777) == 0 && symlink("open/program", path) == 0)
        default:
            try directory.addProgram("pinentry-tty")
            #expect(chmod(directory.path, 0o777) == 0)
        }
        #expect(throws: PresenceUnavailability.noProgram(searched: ["pinentry-tty", "pinentry-curses", "pinentry"])) {
            try Self.programs([directory]).candidates(at: PromptPlace([.terminal: "/dev/pts/1"]))
        }
    }

    @Test(
        "A program of another user than root and the owner is not used",
        .enabled(if: geteuid() == 0, "root can make one"))
    func foreign() throws {
        let directory = try TemporaryDirectory()
        try directory.addProgram("pinentry-tty")
        #expect(chown("\(directory.path)/pinentry-tty", 12345, 0) == 0)
        #expect(throws: PresenceUnavailability.self) {
            try Self.programs([directory]).candidates(at: PromptPlace([.terminal: "/dev/pts/1"]))
        }
    }

    @Test("Without a place, the error names the place, and not a program")
    func noPlace() {
        #expect(throws: PresenceUnavailability.noPlace(ignored: [])) { try Self.programs([]).candidates(at: .none) }
    }

    private static func programs(_ directories: [TemporaryDirectory]) -> PinentryPrograms {
        PinentryPrograms(directories: directories.map(\.path), owner: geteuid())
    }
}

extension TemporaryDirectory {
    /// Creates an executable file that does nothing.
    fileprivate func addProgram(_ name: String, mode: mode_t = 0o755) throws {
        let descriptor = open("\(path)/\(name)", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0 && fchmod(descriptor, mode) == 0)
        close(descriptor)
    }
}
