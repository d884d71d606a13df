// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import LatchkeyServer
import LinuxSystem
import LoginSession
import SystemBus
import Testing

@Suite("Events of login sessions", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"))
struct LoginMonitorTests {
    private static let alice: UInt32 = 1000
    private static let bob: UInt32 = 1001

    private static let sessions = [
        TestLogin.Session(identifier: "1", user: alice, kind: "user"),
        TestLogin.Session(identifier: "2", user: alice, kind: "user"),
        TestLogin.Session(identifier: "3", user: bob, kind: "user"),
        TestLogin.Session(identifier: "4", user: bob, kind: "background"),
    ]

    /// Starts a bus and a logind, and waits until the monitor has read the state.
    private static func start(
        _ fixture: LoginFixture, refusesInhibitors: Bool = false, sessions: [TestLogin.Session] = sessions
    ) throws -> (PrivateBus, TestLogin) {
        let bus = try fixture.startBus()
        let login = try TestLogin(bus.address, refusesInhibitors: refusesInhibitors, sessions: sessions)
        #expect(eventually { fixture.lines.all.contains("info: listening to logind") })
        return (bus, login)
    }

    @Test("A request to lock a session, and a desktop that locks it, are reported for the session's user")
    func lock() throws {
        let fixture = try LoginFixture()
        let (bus, login) = try Self.start(fixture)
        try login.request("Lock", of: "1")
        #expect(eventually { fixture.events.all == [ReportedEvent(.lock, Self.alice)] })
        try login.request("Unlock", of: "1")
        try login.setLockedHint(false, of: "3")
        try login.setLockedHint(true, of: "3")
        #expect(eventually { fixture.events.all.count == 2 })
        try login.request("Lock", of: "2")
        #expect(eventually { fixture.events.all.count == 3 })
        #expect(fixture.events.all == [Self.alice, Self.bob, Self.alice].map { ReportedEvent(.lock, $0) })
        withExtendedLifetime((bus, login)) {}
    }

    @Test("A user's daemon hears the events of its user only, also of sessions that begin later")
    func oneUser() throws {
        let fixture = try LoginFixture(user: Self.alice)
        let (bus, login) = try Self.start(fixture)
        try login.addSession(TestLogin.Session(identifier: "7", user: Self.alice, kind: "user"))
        try login.addSession(TestLogin.Session(identifier: "8", user: Self.bob, kind: "user"))
        for identifier in ["3", "8", "7"] { try login.request("Lock", of: identifier) }
        try login.removeSession("3")
        try login.removeSession("8")
        try login.waitUntilHandled()
        try login.prepareForSleep(true)
        #expect(eventually { fixture.events.all.count == 2 })
        #expect(fixture.events.all == [ReportedEvent(.lock, Self.alice), ReportedEvent(.sleep, Self.alice)])
        withExtendedLifetime((bus, login)) {}
    }

    @Test("The machine waits before it sleeps until the event was handled, each time")
    func sleep() throws {
        let (started, finished) = (EventCount(), EventCount())
        let released = EventCount()
        let fixture = try LoginFixture { event in
            guard event.event == .sleep else { return }
            started.increase()
            _ = eventually { released.value == started.value }
            finished.increase()
        }
        let (bus, login) = try Self.start(fixture)
        for round in 1...3 {
            #expect(eventually { login.inhibitorCount == 1 })
            try login.prepareForSleep(true)
            #expect(eventually { started.value == round })
            #expect(login.inhibitorCount == 1)
            released.increase()
            #expect(eventually { login.inhibitorCount == 0 })
            #expect(finished.value == round)
            try login.prepareForSleep(false)
        }
        #expect(eventually { login.inhibitorCount == 1 && login.inhibitorRequests == 4 })
        #expect(fixture.events.all == Array(repeating: ReportedEvent(.sleep, nil), count: 3))
        withExtendedLifetime((bus, login)) {}
    }

    @Test("Sleep overtakes events that take long; the machine waits for them, and is then reported again")
    func overtaking() throws {
        let (started, released) = (EventCount(), EventCount())
        let fixture = try LoginFixture { event in
            guard event == ReportedEvent(.lock, Self.alice) else { return }
            started.increase()
            _ = eventually { released.value == 1 }
        }
        let (bus, login) = try Self.start(fixture)
        #expect(eventually { login.inhibitorCount == 1 })
        try login.request("Lock", of: "1")
        try login.request("Lock", of: "3")
        #expect(eventually { started.value == 1 })
        try login.prepareForSleep(true)
        #expect(eventually { !fixture.events.all.isEmpty })
        // The lock is still being handled, and bob's waits.
        #expect(fixture.events.all == [ReportedEvent(.sleep, nil)] && login.inhibitorCount == 1)
        released.increase()
        #expect(eventually { login.inhibitorCount == 0 })
        let sleep = ReportedEvent(.sleep, nil)
        #expect(
            fixture.events.all
                == [sleep, ReportedEvent(.lock, Self.alice), ReportedEvent(.lock, Self.bob), sleep])
        withExtendedLifetime(bus) {}
    }

    @Test("A machine that wakes up while events of before its sleep are handled keeps its new inhibitor")
    func wakingUp() throws {
        let (started, released) = (EventCount(), EventCount())
        let fixture = try LoginFixture { event in
            guard event == ReportedEvent(.lock, Self.alice) else { return }
            started.increase()
            _ = eventually { released.value == 1 }
        }
        let (bus, login) = try Self.start(fixture)
        #expect(eventually { login.inhibitorCount == 1 })
        try login.request("Lock", of: "1")
        #expect(eventually { started.value == 1 })
        try login.prepareForSleep(true)
        try login.prepareForSleep(false)
        #expect(eventually { login.inhibitorRequests == 2 && login.inhibitorCount == 1 })
        released.increase()
        try login.waitUntilHandled()
        #expect(fixture.events.all.map(\.event) == [.sleep, .lock, .sleep] && login.inhibitorCount == 1)
        withExtendedLifetime(bus) {}
    }

    @Test("The end is reported with the last working session of the user")
    func end() throws {
        let fixture = try LoginFixture()
        let (bus, login) = try Self.start(fixture)
        try login.removeSession("1")
        try login.addSession(TestLogin.Session(identifier: "9", user: Self.alice, kind: "greeter"))
        try login.removeSession("9")
        try login.removeSession("2")
        #expect(eventually { fixture.events.all == [ReportedEvent(.end, Self.alice)] })
        // The background session does not count.
        try login.removeSession("3")
        #expect(eventually { fixture.events.all.count == 2 })
        try login.removeSession("4")
        try login.request("Lock", of: "unknown")
        try login.addSession(TestLogin.Session(identifier: "10", user: Self.bob, kind: "user"))
        try login.request("Lock", of: "10")
        #expect(eventually { fixture.events.all.count == 3 })
        try login.removeSession("10")
        #expect(eventually { fixture.events.all.count == 4 })
        #expect(fixture.events.all.filter { $0.event == .end }.map(\.user) == [Self.alice, Self.bob, Self.bob])
        withExtendedLifetime((bus, login)) {}
    }

    @Test("A monitor without a bus logs one line, and reports events as soon as the bus and logind are there")
    func noBus() throws {
        let fixture = try LoginFixture()
        #expect(eventually { !fixture.lines.all.isEmpty })
        let bus = try fixture.startBus()
        #expect(eventually { fixture.lines.all.contains { $0.contains("logind does not answer") } })
        #expect(fixture.lines.all.count { $0.contains("the system bus cannot be used") } == 1)
        let login = try TestLogin(bus.address, sessions: Self.sessions)
        #expect(eventually { login.inhibitorCount == 1 && fixture.lines.all.contains("info: listening to logind") })
        try login.request("Lock", of: "1")
        #expect(eventually { fixture.events.all == [ReportedEvent(.lock, Self.alice)] })
        withExtendedLifetime(bus) {}
    }

    @Test("Events during an absence of the bus are reported when it comes back")
    func busReturns() throws {
        let fixture = try LoginFixture()
        let (first, login) = try Self.start(fixture)
        #expect(eventually { login.inhibitorCount == 1 })
        first.stop()
        #expect(eventually { fixture.lines.all.contains { $0.contains("has ended") } })
        login.stop()
        var sessions = [
            Self.sessions[0], TestLogin.Session(identifier: "5", user: 1002, kind: "user", lockedHint: true),
        ]
        let second = try fixture.startBus()
        let other = try TestLogin(second.address, sessions: sessions)
        // The state may be read twice, if logind appears while the monitor connects: a lock is then
        // reported again.
        let missed: Set = [ReportedEvent(.end, Self.bob), ReportedEvent(.lock, 1002)]
        #expect(eventually { Set(fixture.events.all).isSuperset(of: missed) })
        #expect(Set(fixture.events.all) == missed)
        #expect(eventually { other.inhibitorCount == 1 })
        // logind alone starts again, and the screen was locked meanwhile.
        other.stop()
        sessions[0].lockedHint = true
        let third = try TestLogin(second.address, sessions: sessions)
        #expect(eventually { fixture.events.all.contains(ReportedEvent(.lock, Self.alice)) })
        #expect(eventually { third.inhibitorCount == 1 })
        withExtendedLifetime(second) {}
    }

    @Test("A machine that is already about to sleep when the monitor starts is reported")
    func alreadySleeping() throws {
        let fixture = try LoginFixture()
        let bus = try fixture.startBus()
        #expect(eventually { fixture.lines.all.contains { $0.contains("logind does not answer") } })
        let login = try TestLogin(bus.address, isPreparingForSleep: true, sessions: Self.sessions)
        #expect(eventually { fixture.events.all == [ReportedEvent(.sleep, nil)] })
        #expect(eventually { login.inhibitorRequests == 1 && login.inhibitorCount == 0 })
    }

    @Test("Events are reported also if logind refuses inhibitors")
    func refusedInhibitor() throws {
        let fixture = try LoginFixture()
        let (bus, login) = try Self.start(fixture, refusesInhibitors: true)
        try login.prepareForSleep(true)
        try login.prepareForSleep(false)
        try login.request("Lock", of: "1")
        #expect(eventually { fixture.events.all == [ReportedEvent(.sleep, nil), ReportedEvent(.lock, Self.alice)] })
        withExtendedLifetime(bus) {}
    }

    @Test("Signals that another program sends in logind's name are not reported")
    func forged() throws {
        let fixture = try LoginFixture()
        let (bus, login) = try Self.start(fixture)
        let hostile = try BusConnection(to: .custom(bus.address))
        // The names of the connections are consecutive numbers, so every program can guess them.
        for number in 0..<10 {
            let victim = try BusName(validating: ":1.\(number)")
            try hostile.emit(
                from: "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "PrepareForSleep", [.boolean(true)],
                to: victim)
            try hostile.emit(
                from: try TestLogin.path(of: "1"), "org.freedesktop.login1.Session", "Lock", to: victim)
            try hostile.emit(
                from: "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "SessionRemoved",
                [.string("3"), .objectPath(try TestLogin.path(of: "3"))], to: victim)
        }
        _ = try hostile.owner(of: "org.freedesktop.login1")
        try login.request("Lock", of: "3")
        #expect(eventually { !fixture.events.all.isEmpty })
        #expect(fixture.events.all == [ReportedEvent(.lock, Self.bob)])
        #expect(login.inhibitorCount == 1)
    }

    @Test("A stopped monitor releases its inhibitor")
    func stop() throws {
        let fixture = try LoginFixture()
        let (bus, login) = try Self.start(fixture)
        #expect(eventually { login.inhibitorCount == 1 })
        fixture.monitor.stop()
        #expect(eventually { login.inhibitorCount == 0 })
        withExtendedLifetime(bus) {}
    }

    @Test(
        "The foreign logind of python-dbusmock is understood",
        .enabled(if: ForeignLogin.isInstalled, "python3-dbusmock or busctl is not installed"))
    func foreign() throws {
        let fixture = try LoginFixture()
        let bus = try fixture.startBus()
        let login = try ForeignLogin(bus.address, output: "\(fixture.directory.path)/dbusmock.log")
        try login.addSession("c1", user: Self.alice)
        #expect(eventually { fixture.lines.all.contains("info: listening to logind") })
        #expect(eventually { login.inhibitors.contains("\"sleep\" \"Latchkey\"") })
        try login.lockSession("c1")
        #expect(eventually { fixture.events.all.last == ReportedEvent(.lock, Self.alice) })
        try login.prepareForSleep(true)
        #expect(eventually { fixture.events.all.last == ReportedEvent(.sleep, nil) })
        #expect(eventually { !login.inhibitors.contains("Latchkey") })
        try login.prepareForSleep(false)
        #expect(eventually { login.inhibitors.contains("Latchkey") })
        withExtendedLifetime(bus) {}
    }
}
