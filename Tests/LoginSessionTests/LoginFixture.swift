// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import LatchkeyServer
import Logging
import LoginSession
import Synchronization
import SystemBus
import Testing

/// An event that a monitor has reported.
struct ReportedEvent: Hashable, Sendable, CustomStringConvertible {
    let event: SessionEvent
    /// nil for all users.
    let user: UInt32?

    init(_ event: SessionEvent, _ user: UInt32?) {
        self.event = event
        self.user = user
    }

    var description: String { "\(event) of \(user.map(String.init) ?? "all")" }
}

/// A list that several threads use.
final class SharedList<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    var all: [Element] { elements.withLock { $0 } }
    func append(_ element: Element) { elements.withLock { $0.append(element) } }
}

/// A monitor of a bus that a test starts, and the events and log lines that it has reported.
final class LoginFixture: Sendable {
    let directory: TemporaryDirectory
    let monitor: LoginMonitor
    let events = SharedList<ReportedEvent>()
    let lines = SharedList<String>()

    /// - Parameters:
    ///   - user: the only user with reported events; nil for all users.
    ///   - handling: runs while an event is handled.
    init(user: UInt32? = nil, handling: @escaping @Sendable (ReportedEvent) -> Void = { _ in }) throws {
        directory = try TemporaryDirectory()
        let (events, lines) = (events, lines)
        monitor = try LoginMonitor(
            address: .custom("unix:path=\(directory.path)/bus"), user: user, retryMilliseconds: 5,
            log: Logger(label: "test") { _ in LineHandler(lines: lines) }
        ) { event, user in
            handling(ReportedEvent(event, user))
            events.append(ReportedEvent(event, user))
        }
        #expect(monitor.start())
    }

    func startBus() throws -> PrivateBus { try PrivateBus(in: directory) }

    deinit { monitor.stop() }
}

/// Collects the messages of a log.
struct LineHandler: LogHandler {
    let lines: SharedList<String>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.append("\(event.level): \(event.message)") }
}
