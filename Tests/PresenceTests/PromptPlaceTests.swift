// SPDX-License-Identifier: Apache-2.0

import KeychainModel
@testable import Presence
import Testing

/// The terminal and the display that a program sends.
@Suite("Place of a question")
struct PromptPlaceTests {
    @Test(
        "A well-formed value is kept",
        arguments: [
            (PromptVariable.terminal, "/dev/pts/0"), (.terminal, "/dev/pts/12345"), (.terminal, "/dev/tty1"),
            (.terminal, "/dev/ttyS0"), (.terminal, "/dev/ttyUSB0"), (.terminal, "/dev/hvc0"),
            (.terminalType, "xterm-256color"), (.terminalType, "dumb"), (.terminalType, "screen.xterm+x"),
            (.display, ":0"), (.display, ":10.0"), (.display, "localhost:10.0"), (.display, "localhost:1"),
            (.display, "unix:0"), (.display, "unix:10.0"),
            (.waylandDisplay, "wayland-0"), (.waylandDisplay, "/run/user/1000/wayland-0"),
            (.authorityFile, "/home/alice/.Xauthority"), (.authorityFile, "/run/user/1000/a b"),
            (.sessionBus, "unix:path=/run/user/1000/bus"), (.sessionBus, "unix:abstract=/tmp/dbus-x,guid=0a"),
        ])
    func kept(_ variable: PromptVariable, _ value: String) {
        let place = PromptPlace([variable: value])
        #expect(place[variable] == value && place.ignored.isEmpty)
    }

    @Test(
        "A value that is not well-formed is ignored and named",
        arguments: [
            (PromptVariable.terminal, "/dev/tty"), (.terminal, "/dev/watchdog"), (.terminal, "/dev/pts/../sda"),
            (.terminal, "/dev/pts/"), (.terminal, "/dev/pts/1/2"), (.terminal, "/dev/pts/123456"),
            (.terminal, "/dev/pts/1\n"), (.terminal, "/dev/pts/\u{661}"), (.terminal, "pts/1"),
            (.terminal, "/tmp/pts/1"), (.terminal, "/dev/tty1/../mem"), (.terminal, "/dev/ttyS0 x"),
            (.terminal, "/dev/pts/1\u{301}"), (.terminal, "/dev/hvc"),
            (.terminalType, "../../tmp/evil"), (.terminalType, "a b"), (.terminalType, "x\u{1B}"),
            (.terminalType, String(repeating: "x", count: 65)),
            (.display, "0"), (.display, ":"), (.display, ":0.0.0"), (.display, "a:b:0"), (.display, "unix/:0"),
            (.display, ":0;x"), (.display, "localhost::0"), (.display, ":-1"), (.display, ":0\u{301}"),
            (.display, "host-1.example:1"), (.display, "192.0.2.1:0"), (.display, "localhost.example:0"),
            (.display, "Localhost:0"), (.display, "tcp/localhost:0"), (.display, "localhost"), (.display, "unix"),
            (.display, "[::1]:0"), (.display, "::1:0"), (.display, "localhost:"), (.display, ":0."), (.display, ":.0"),
            (.display, "/tmp/.X11-unix/X0"), (.display, "unix:/tmp/.X11-unix/X0"),
            (.waylandDisplay, "../evil"), (.waylandDisplay, "/run/../evil"), (.waylandDisplay, "a/b"),
            (.authorityFile, "relative"), (.authorityFile, "/a\nb"), (.authorityFile, "/a/../b"),
            (.authorityFile, "/" + String(repeating: "x", count: 1024)),
            (.sessionBus, "unixexec:path=/tmp/evil"), (.sessionBus, "tcp:host=example.com,port=1"),
            (.sessionBus, "unix:path=/a;unixexec:path=/tmp/evil"), (.sessionBus, "unix:tmpdir=/tmp"),
            (.sessionBus, "autolaunch:"), (.sessionBus, "unix:path=relative"), (.sessionBus, "unix:abstract="),
        ])
    func ignored(_ variable: PromptVariable, _ value: String) {
        let place = PromptPlace([variable: value])
        #expect(place[variable] == nil && place.ignored == [variable])
        #expect(!place.hasDisplay && !place.hasTerminal)
    }

    @Test("An empty value is one that was not sent")
    func empty() {
        for variable in PromptVariable.allCases { #expect(PromptPlace([variable: ""]) == .none) }
    }

    @Test("A program without a usable place gets the names of malformed values")
    func explained() {
        let place = PromptPlace([.terminal: "/dev/tty", .display: "x", .terminalType: "xterm"])
        let reason = PresenceUnavailability.noPlace(ignored: place.ignored)
        #expect(
            reason.problem
                == "the program has no usable terminal or display: GPG_TTY must be the device file of a terminal, DISPLAY must be :NUMBER, unix:NUMBER or localhost:NUMBER"
        )
    }
}
