// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import Testing

/// latchkeyd as a real process, on a private bus with a logind of the test.
@Suite(
    "A daemon and its login session", .serialized,
    .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"))
struct LoginDaemonTests {
    private let directory: TemporaryDirectory
    private let bus: PrivateBus
    private let login: TestLogin
    private let daemon: DaemonProcess
    private let passcode: String

    /// Starts a daemon with an unlocked keychain that has a passcode.
    init() throws {
        directory = try TemporaryDirectory()
        bus = try PrivateBus(in: directory)
        login = try TestLogin(
            bus.address,
            sessions: [
                TestLogin.Session(identifier: "1", user: geteuid(), kind: "user"),
                TestLogin.Session(identifier: "2", user: geteuid() + 1, kind: "user"),
            ])
        daemon = try DaemonProcess(environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address], in: directory)
        passcode = "\(directory.path)/passcode"
        try Data("purple monkey dishwasher\n".utf8).write(to: URL(filePath: passcode))
        chmod(passcode, 0o600)
        let added = try latchkey("add-generic-password", "-a", "a", "-s", "s", "-w", "v")
        #expect(added.status == 0, "\(added)")
        let set = try latchkey("passcode", "set", "--passcode-file", passcode)
        #expect(set.status == 0, "\(set)")
        let login = login
        #expect(eventually { login.inhibitorCount == 1 && login.lists > 0 })
    }

    private func latchkey(_ words: String...) throws -> Executable.Outcome { try daemon.client("latchkey", words) }

    private func isLocked() throws -> Bool {
        try latchkey("status", "--json").output.contains(#""lock" : "locked""#)
    }

    /// Whether the keys are gone, not only the permission to use them.
    private func isClosed() throws -> Bool { try latchkey("find-generic-password", "-a", "a", "-w").status == 36 }

    @Test("The keychain locks with the session of its user, and not with the session of another user")
    func lock() throws {
        try login.request("Lock", of: "2")
        try login.removeSession("2")
        try login.request("Unlock", of: "1")
        try login.waitUntilHandled()
        #expect(try !isLocked())
        try login.request("Lock", of: "1")
        #expect(try eventually { try isLocked() })
        #expect(try latchkey("unlock", "--passcode-file", passcode).status == 0)
        try login.setLockedHint(true, of: "1")
        #expect(try eventually { try isLocked() })
        try login.request("Unlock", of: "1")
        try login.setLockedHint(false, of: "1")
        try login.waitUntilHandled()
        #expect(try isLocked())
    }

    @Test("The keychain locks without a grace period before the machine sleeps, if its settings say so")
    func sleep() throws {
        let login = login
        try login.prepareForSleep(true)
        #expect(eventually { login.inhibitorCount == 0 })
        #expect(try !isLocked())
        try login.prepareForSleep(false)
        #expect(eventually { login.inhibitorCount == 1 })
        let changed = try latchkey("settings", "--lock-on-sleep", "--passcode-file", passcode)
        #expect(changed.status == 0, "\(changed)")
        try login.prepareForSleep(true)
        // From here on the machine may sleep.
        #expect(eventually { login.inhibitorCount == 0 })
        #expect(try isLocked() && isClosed())
    }

    @Test("A keychain in its grace period loses its keys before the machine sleeps")
    func sleepAfterLock() throws {
        let login = login
        #expect(try latchkey("settings", "--grace", "3600", "--passcode-file", passcode).status == 0)
        try login.request("Lock", of: "1")
        #expect(try eventually { try isLocked() })
        #expect(try !isClosed())
        try login.prepareForSleep(true)
        #expect(eventually { login.inhibitorCount == 0 })
        #expect(try isClosed())
    }

    @Test("The keychain locks without a grace period when the last session of its user ends")
    func end() throws {
        try login.addSession(TestLogin.Session(identifier: "3", user: geteuid(), kind: "user"))
        // The new session is known when its lock has an effect.
        try login.request("Lock", of: "3")
        #expect(try eventually { try isLocked() })
        #expect(try latchkey("unlock", "--passcode-file", passcode).status == 0)
        try login.removeSession("1")
        try login.waitUntilHandled()
        #expect(try !isLocked())
        try login.removeSession("3")
        #expect(try eventually { try isLocked() && isClosed() })
    }

    @Test("A daemon runs on when its bus ends, and locks with the session when the bus is back")
    func busReturns() throws {
        bus.stop()
        #expect(try latchkey("find-generic-password", "-a", "a", "-w").output == "v\n")
        let next = try PrivateBus(in: directory)
        let login = try TestLogin(
            next.address, sessions: [TestLogin.Session(identifier: "1", user: geteuid(), kind: "user")])
        #expect(eventually { login.inhibitorCount == 1 })
        try login.request("Lock", of: "1")
        #expect(try eventually { try isLocked() })
        #expect(daemon.stop() == 0)
        #expect(eventually { login.inhibitorCount == 0 })
    }
}
