// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import LinuxSystem
import Testing

@Suite("Waits without polling")
struct PathWatchTests {
    private let directory: TemporaryDirectory
    private let events = EventCount()

    init() throws { directory = try TemporaryDirectory() }

    private func makeDirectory(_ name: String) throws {
        try FileManager.default.createDirectory(
            atPath: "\(directory.path)/\(name)", withIntermediateDirectories: false)
    }

    @Test("A file that appears is reported, also in a directory that is made first; its neighbors are not")
    func arrival() throws {
        let stop = try StopSignal()
        let path = "\(directory.path)/a/b"
        func observe() throws {
            let watch = try PathWatch(arrivalAt: path)
            BackgroundThread.run { [events] in if watch.wait(until: stop) { events.increase() } }
        }
        try observe()
        for name in ["b", "aa", ".a"] { try makeDirectory(name) }
        #expect(events.value == 0)
        try makeDirectory("a")
        #expect(eventually { events.value == 1 })
        try observe()
        try makeDirectory("a/c")
        #expect(rename("\(directory.path)/b", path) == 0)
        #expect(eventually { events.value == 2 })
        // A directory that goes may come back elsewhere.
        try observe()
        #expect(rename("\(directory.path)/a", "\(directory.path)/moved") == 0)
        #expect(eventually { events.value == 3 })
        try observe()
        stop.raise()
        #expect(events.value == 3)
    }

    @Test("The end of a file is reported when its name is removed, or a directory above it is renamed")
    func end() throws {
        let stop = try StopSignal()
        let path = "\(directory.path)/a/socket"
        for count in 1...2 {
            try makeDirectory("a")
            let listener = try Socket(listeningAt: path, permissions: 0o600)
            let watch = try PathWatch(endOf: path)
            BackgroundThread.run { [events] in if watch.wait(until: stop) { events.increase() } }
            try makeDirectory("a/other")
            #expect(events.value == count - 1)
            if count == 1 {
                unlink(path)
            } else {
                #expect(rename("\(directory.path)/a", "\(directory.path)/moved") == 0)
            }
            #expect(eventually { events.value == count })
            withExtendedLifetime(listener) {}
            try? FileManager.default.removeItem(atPath: "\(directory.path)/a")
        }
    }

    @Test("Attempts to connect end until a process listens at the path, and the next one follows at once")
    func retry() throws {
        let path = "\(directory.path)/socket"
        let (wake, attempts, connections) = (try WakeSignal(), EventCount(), EventCount())
        BackgroundThread.run {
            let retry = ConnectionRetry(path: path, milliseconds: 1)
            while (try? Socket(connectingTo: path)) == nil {
                attempts.increase()
                retry.wait(or: wake)
            }
            connections.increase()
        }
        // Two waits of a millisecond, and then the one that ends with the socket.
        #expect(eventually { attempts.value == 3 })
        for number in 0..<50 { try makeDirectory("neighbor \(number)") }
        #expect(attempts.value == 3 && connections.value == 0)
        // A socket that a killed server has left does not count as one that is listened at. It never was at this path:
        // otherwise an attempt could find its listener.
        _ = try Socket(listeningAt: "\(path).left", permissions: 0o600)
        #expect(rename("\(path).left", path) == 0)
        #expect(eventually { attempts.value >= 6 })
        unlink(path)
        let listener = try Socket(listeningAt: path, permissions: 0o600)
        #expect(eventually { connections.value == 1 })
        withExtendedLifetime(listener) {}
    }

    @Test("An alarm wakes at its time of the machine's clock, or when it is raised before")
    func alarm() throws {
        let alarm = try BootAlarm()
        let begin = BootClock.system.now()
        alarm.wait(until: begin + 20_000_000, of: .system)
        #expect(BootClock.system.now() >= begin + 20_000_000)
        // A time that has passed, and the first of the clock.
        alarm.wait(until: begin, of: .system)
        alarm.wait(until: 0, of: .system)
        BackgroundThread.run { [events] in
            alarm.wait(until: .max, of: .system)
            events.increase()
        }
        #expect(events.value == 0)
        alarm.raise()
        #expect(eventually { events.value == 1 })
    }

    @Test("A thread that waits for connections answers a probe, and one that does not is found out")
    func probe() throws {
        let (stop, probe) = (try StopSignal(), try Probe())
        #expect(!probe.isAnswered(within: 0))
        let listener = try Socket(listeningAt: "\(directory.path)/socket", permissions: 0o600)
        BackgroundThread.run { [events] in
            let connection = try? listener.accept(until: stop, answering: probe)
            if connection == nil { events.increase() }
        }
        for _ in 0..<3 { #expect(probe.isAnswered(within: 300)) }
        stop.raise()
        #expect(eventually { events.value == 1 })
        #expect(!probe.isAnswered(within: 0))
    }
}
